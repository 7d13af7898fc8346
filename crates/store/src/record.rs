//! The records of a segment, and their format as lines.

use gleaner_domain::Digest;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::key::RunKey;

/// Number of hexadecimal digits in a digest.
const DIGITS: usize = 64;

/// Identifies a process by its batch and its part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartName {
    /// Name of the batch; empty if the part does not belong to a batch.
    pub batch: String,
    /// Part number, from 1.
    pub part: usize,
}

/// The end of a process, as recorded by the process itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Exit code of the process.
    pub code: u8,
    /// The error; empty if there was no error.
    pub message: String,
}

/// A record of a segment.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Record<'a> {
    /// The process that writes the segment executes this part.
    Part(PartName),
    /// A run was started.
    Begun(RunKey),
    /// A run is done.
    #[serde(borrow)]
    Done(Done<'a>),
    /// A run has failed.
    Failed {
        run: RunKey,
        code: u8,
        message: String,
    },
    /// The process has ended.
    Ended(Ended),
}

/// The result of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done<'a> {
    pub run: RunKey,
    #[serde(borrow)]
    pub settings: &'a RawValue,
    /// Duration of the run in seconds.
    pub seconds: f64,
    #[serde(borrow)]
    pub result: &'a RawValue,
}

impl Record<'_> {
    /// The run that the record refers to, if any.
    pub fn run(&self) -> Option<&RunKey> {
        match self {
            Record::Begun(run) | Record::Failed { run, .. } => Some(run),
            Record::Done(done) => Some(&done.run),
            Record::Part(_) | Record::Ended(_) => None,
        }
    }

    /// The record as a line: the digest of its JSON, a space, and the JSON.
    pub fn line(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{} {json}\n", Digest::of(json.as_bytes())))
    }
}

/// The record in a line, with or without its line ending; `None` if the line was altered or cut off.
pub(crate) fn parse(line: &[u8]) -> Option<Record<'_>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (digest, rest) = line.split_at_checked(DIGITS)?;
    let json = rest.strip_prefix(b" ")?;
    if digest != Digest::of(json).to_string().as_bytes() {
        return None;
    }
    serde_json::from_slice(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_changed_line_is_no_record() {
        let line = Record::Begun(RunKey::of(b"a")).line().unwrap();
        assert!(
            matches!(parse(line.as_bytes()), Some(Record::Begun(key)) if key == RunKey::of(b"a"))
        );
        for place in 0..line.len() - 1 {
            let mut changed = line.clone().into_bytes();
            changed[place] ^= 1;
            assert!(parse(&changed).is_none(), "byte {place}");
            assert!(parse(&line.as_bytes()[..place]).is_none(), "cut at {place}");
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn no_line_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(parse(&bytes).is_none());
        }
    }
}
