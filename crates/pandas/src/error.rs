//! Errors that occur when a pickle is read.

use gleaner_pickle::{Problem as Decoding, opcode as op};
use thiserror::Error;

use super::globals;

/// The reason why a pickle could not be read as a table, with its position in
/// the file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
pub struct PickleError {
    /// Position of the faulty instruction in the uncompressed pickle in bytes, counted from 0.
    pub offset: usize,
    /// The problem at this position, with advice on how to solve it.
    pub problem: Problem,
}

/// The problem that a [`PickleError`] reports.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The pickle cannot be decoded.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Pickle(Decoding),
    /// The pickle ends before the file does.
    #[error(
        "the pickle ends here, but {0} more bytes follow; the file is damaged or holds more than \
         one pickle: write each table to its own file"
    )]
    TrailingBytes(usize),
    /// The pickle refers to a buffer, object or class outside the file.
    #[error(
        "the pickle refers to {0} outside the file, which cannot be read; write it with \
         df.to_pickle(path, protocol=4)"
    )]
    Outside(&'static str),
    /// The pickle names a class or function that is not on the closed list.
    #[error(
        "{name} is not among the classes that a table of numbers needs; nothing was executed; {remedy}"
    )]
    Global {
        /// Module and name, as written in the file.
        name: String,
        /// Advice for the user.
        remedy: &'static str,
    },
    /// Parts of the pickle contradict each other.
    #[error("{0}; the file is damaged: copy or write it again")]
    Malformed(&'static str),
    /// A string is not UTF-8.
    #[error("a string is not valid UTF-8; the file is damaged: copy or write it again")]
    Utf8,
    /// The pickle would expand to more bytes than a table in a file of this
    /// size can need.
    #[error(
        "the file has more {what} than the limit of {limit}; store numbers in numeric \
         columns (df.astype('int8'), df.astype('float64')), or write CSV or Parquet"
    )]
    Limit {
        /// The quantity that exceeds the limit.
        what: &'static str,
        /// The limit that is exceeded.
        limit: usize,
    },
    /// The pickle is well-formed, but not laid out as a table.
    #[error(
        "expected {expected}, found {found}; write the table again with \
         df.to_pickle(path, protocol=4), or as CSV or Parquet"
    )]
    Unexpected {
        /// The content that a table has at this position.
        expected: &'static str,
        /// The content that the file has at this position.
        found: String,
    },
    /// An array has an item type that this reader does not support.
    #[error(
        "unsupported array item type {found}; expected integers, floats, bools, \
         datetime64[s/ms/us/ns] or objects in little-endian order: convert it (df.astype)"
    )]
    ItemType {
        /// The type in numpy's notation.
        found: String,
    },
    /// The shape of an array does not match the array's data or the table.
    #[error("expected {expected}, found {what} of {found}; the file is damaged: write it again")]
    Size {
        /// The kind of data that has the wrong size.
        what: &'static str,
        /// The size found.
        found: String,
        /// The size needed.
        expected: String,
    },
    /// A time in nanoseconds does not fit in 64 bits.
    #[error(
        "the time {value} {unit} since 1970 does not fit in 64-bit nanoseconds (years 1678 to 2261); \
         correct the timestamp"
    )]
    TimeRange {
        /// The stored number.
        value: i64,
        /// The unit of the stored number.
        unit: &'static str,
    },
}

impl Problem {
    /// The error that reports this problem at a byte offset.
    pub(super) fn at(self, offset: usize) -> PickleError {
        PickleError {
            offset,
            problem: self,
        }
    }
}

impl From<gleaner_pickle::PickleError> for PickleError {
    fn from(error: gleaner_pickle::PickleError) -> Self {
        let problem = match error.problem {
            Decoding::Global { module, name } => globals::refusal(&module, &name),
            Decoding::Limit { what, limit } => Problem::Limit { what, limit },
            Decoding::Instruction { code, name } => match code {
                op::PERSID | op::BINPERSID => Problem::Outside("an object (persistent id)"),
                op::EXT1 | op::EXT2 | op::EXT4 => Problem::Outside("a class (extension registry)"),
                op::NEXT_BUFFER | op::READONLY_BUFFER => Problem::Outside("a buffer (out-of-band)"),
                _ => Problem::Pickle(Decoding::Instruction { code, name }),
            },
            other => Problem::Pickle(other),
        };
        problem.at(error.offset)
    }
}

/// Advice for the user of a pickle that cannot be decoded.
fn remedy(problem: &Decoding) -> &'static str {
    match problem {
        Decoding::NotAPickle { .. } => {
            "unpack it first if it is compressed, or write it again with \
             df.to_pickle(path, protocol=4)"
        }
        Decoding::Protocol(_) | Decoding::Instruction { .. } => {
            "write the table again with df.to_pickle(path, protocol=4)"
        }
        _ => "the file is truncated or damaged: copy or write it again",
    }
}
