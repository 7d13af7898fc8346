//! Inputs that can be read twice, because gaps can be found only after the intervals of all polls are known.

use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};

use super::reader::first_time;
use crate::scheduler::Input;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_io::source::STDIN;

/// An input that can be opened several times.
pub(super) enum Source<'a> {
    File(PathBuf),
    /// A temporary file with a copy of stdin.
    Spooled(File),
    /// The name and the bytes of a file.
    Bytes(&'a Path, &'a [u8]),
}

impl Source<'_> {
    /// The source for a path. Stdin is copied to a temporary file.
    ///
    /// # Errors
    /// Stdin cannot be read, or the temporary file cannot be written.
    pub fn of(path: &Path) -> Result<Self> {
        if path != Path::new(STDIN) {
            return Ok(Source::File(path.to_owned()));
        }
        let spool = || {
            let mut file = tempfile::tempfile()?;
            std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
            Ok(file)
        };
        let spooled = spool().map_err(|error| Error::io("read", path, error));
        spooled.map(Source::Spooled)
    }

    /// Opens the input at its start.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn open<'s>(&'s self, observer: &'s dyn Observer) -> Result<Input<'s>> {
        match self {
            Source::File(path) => Input::open_observed(path, observer),
            Source::Spooled(file) => {
                let path = Path::new(STDIN);
                let mut start = file;
                let rewound = start.rewind();
                rewound.map_err(|error| Error::io("read", path, error))?;
                Input::new(path, file)
            }
            Source::Bytes(path, bytes) => Input::new(path, *bytes),
        }
    }
}

/// Sorts sources by the times of their first polls.
///
/// # Errors
/// A source cannot be read.
pub(super) fn in_order<'a>(
    sources: Vec<Source<'a>>,
    observer: &dyn Observer,
) -> Result<Vec<Source<'a>>> {
    if sources.len() < 2 {
        return Ok(sources);
    }
    let mut timed = Vec::new();
    for source in sources {
        let time = first_time(&mut source.open(observer)?)?;
        timed.push((time, source));
    }
    timed.sort_by_key(|(time, _)| *time);
    Ok(timed.into_iter().map(|(_, source)| source).collect())
}
