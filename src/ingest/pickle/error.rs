//! What can be wrong with a pickle.

use thiserror::Error;

/// Why a pickle could not be read as a table, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
pub struct PickleError {
    /// Position in the unpacked pickle of the instruction at fault, in bytes
    /// from 0.
    pub offset: usize,
    /// What is wrong there, and what to do about it.
    pub problem: Problem,
}

/// The kinds of [`PickleError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The first byte is not that of a binary pickle.
    #[error(
        "this is not a pickle of protocol 2 to 5: those start with byte 0x80, this file with \
         {found}; unpack it first if it is compressed, or write it again with \
         df.to_pickle(path, protocol=4)"
    )]
    NotAPickle {
        /// The first bytes, in words.
        found: String,
    },
    /// A protocol outside 2 to 5.
    #[error(
        "pickle protocol {0} is not read here, 2 to 5 are; write the file again with \
         df.to_pickle(path, protocol=4)"
    )]
    Protocol(u8),
    /// The input ends too early.
    #[error(
        "{what} needs {needed} more bytes, but only {left} are left; the file is cut short or \
         damaged: copy or write it again"
    )]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes left.
        left: usize,
    },
    /// The pickle ends before the file does.
    #[error(
        "the pickle ends here, but {0} more bytes follow; the file is damaged or holds more than \
         one pickle: write one table to one file"
    )]
    TrailingBytes(usize),
    /// An instruction that no table of protocol 2 to 5 contains.
    #[error(
        "instruction 0x{code:02x} ({name}) does not occur in a table of protocol 2 to 5; the file \
         is damaged or not a pandas pickle: write it again with df.to_pickle(path, protocol=4)"
    )]
    Opcode {
        /// The instruction.
        code: u8,
        /// Its name in Python's `pickletools`.
        name: &'static str,
    },
    /// A buffer, object or class kept outside the file.
    #[error(
        "the pickle refers to {0} kept outside the file, which cannot be read; write it with \
         df.to_pickle(path, protocol=4)"
    )]
    Outside(&'static str),
    /// A class or function outside the closed list.
    #[error(
        "{name} is not among the classes a table of numbers needs; nothing was executed; {remedy}"
    )]
    Global {
        /// Module and name, as in the file.
        name: String,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The stack machine's rules are broken.
    #[error("{0}; the file is damaged: copy or write it again")]
    Malformed(&'static str),
    /// A text that is not UTF-8.
    #[error("a text is not valid UTF-8; the file is damaged: copy or write it again")]
    Utf8,
    /// The file asks for more than a table of this size can need.
    #[error(
        "the file holds more {what} than are read here ({limit}); store numbers in numeric \
         columns (df.astype('int8'), df.astype('float64')), or write CSV or Parquet"
    )]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A well-formed pickle that is not laid out as a table.
    #[error(
        "expected {expected}, found {found}; write the table again with \
         df.to_pickle(path, protocol=4), or as CSV or Parquet"
    )]
    Unexpected {
        /// What a table has here.
        expected: &'static str,
        /// What the file has.
        found: String,
    },
    /// An item type that is not read.
    #[error(
        "the array's item type {found} is not read here; integers, floats, bools, \
         datetime64[s/ms/us/ns] and objects in little-endian order are: convert it first \
         (df.astype)"
    )]
    ItemType {
        /// The type in numpy's notation.
        found: String,
    },
    /// An array whose shape does not fit its data or its table.
    #[error("{what} of {found} where {expected} are needed; the file is damaged: write it again")]
    Size {
        /// What has the wrong size.
        what: &'static str,
        /// The size found.
        found: String,
        /// The size needed.
        expected: String,
    },
    /// A time that nanoseconds in 64 bits cannot hold.
    #[error(
        "the time {value} {unit} after 1970 does not fit nanoseconds in 64 bits (years 1678 to \
         2261); correct the time stamp"
    )]
    TimeRange {
        /// The stored number.
        value: i64,
        /// Its unit.
        unit: &'static str,
    },
}

impl Problem {
    /// Puts the problem at a byte offset.
    pub(super) fn at(self, offset: usize) -> PickleError {
        PickleError {
            offset,
            problem: self,
        }
    }
}
