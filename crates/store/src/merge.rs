//! Makes one segment of many.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

use gleaner_core::error::{Error, Result};
use gleaner_core::files::{self, Digest};
use serde::de::IgnoredAny;

use crate::record::{Record, parse};
use crate::{ENDING, Found, Store, lines};

impl Store {
    /// Makes one segment of all, without what no longer matters: which processes there were, and what
    /// happened to runs that are done, but for how often they were begun.
    ///
    /// To be called when all runs are done: a process that still appends to one of the segments would
    /// lose what it appends. A kill at any time loses nothing.
    ///
    /// # Errors
    /// A segment cannot be read, written or removed.
    pub fn merge(&self) -> Result<()> {
        let old = self.segments()?;
        if old.len() < 2 {
            return Ok(());
        }
        let begun = Found::<IgnoredAny>::in_segments(&old, |_| true)?.begun;
        let names: Vec<u8> = old
            .iter()
            .flat_map(|path| path.as_os_str().as_encoded_bytes().to_vec())
            .collect();
        let name = format!("merged-{}{ENDING}", &Digest::of(&names).to_string()[..12]);
        files::write(&self.folder.join(name), |out| {
            for (run, times) in begun.iter().filter(|(_, times)| **times > 1) {
                let line = Record::Begun(*run).line()?;
                (0..*times).try_for_each(|_| out.write_all(line.as_bytes()))?;
            }
            let mut written = BTreeSet::new();
            let mut outcome = Ok(());
            for segment in &old {
                lines::read(segment, 0, |line| {
                    if let Some(Record::Done(done)) = parse(line)
                        && outcome.is_ok()
                        && written.insert(done.run)
                    {
                        outcome = out.write_all(line);
                    }
                })?;
            }
            outcome
        })?;
        files::sync_directory(&self.folder);
        for segment in &old {
            fs::remove_file(segment).map_err(|error| Error::io("remove", segment, error))?;
        }
        Ok(())
    }
}
