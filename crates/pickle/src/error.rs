//! The faults that a pickle can have.

use thiserror::Error;

/// Why a pickle could not be decoded, and where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
pub struct PickleError {
    /// Position of the instruction at fault, in bytes from 0.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// The fault that a [`PickleError`] reports.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The first byte is not that of a binary pickle.
    #[error(
        "this is not a pickle of protocol 2 to 5: those start with byte 0x80, this one with {found}"
    )]
    NotAPickle {
        /// The first bytes, in words.
        found: String,
    },
    /// A protocol outside 2 to 5.
    #[error("pickle protocol {0} is not supported (expected 2 to 5)")]
    Protocol(u8),
    /// The input ends too early.
    #[error("instruction {instruction} needs {needed} more bytes, but only {left} are left")]
    Truncated {
        /// The name of the instruction in Python's `pickletools`.
        instruction: &'static str,
        /// Number of bytes that it needs.
        needed: u64,
        /// Bytes left.
        left: usize,
    },
    /// An instruction that is not decoded, or that the caller refuses.
    #[error("instruction 0x{code:02x} ({name}) is not accepted; nothing was executed")]
    Instruction {
        /// The instruction.
        code: u8,
        /// Its name in Python's `pickletools`.
        name: &'static str,
    },
    /// A class or function outside the caller's list.
    #[error("{module}.{name} is not among the names accepted here; nothing was executed")]
    Global {
        /// The module. Both parts are escaped and shortened for messages.
        module: String,
        /// The name within the module.
        name: String,
    },
    /// The stack machine's rules are broken.
    #[error("instruction {instruction} needs {expected}, found {found}")]
    Malformed {
        /// The name of the instruction in Python's `pickletools`.
        instruction: &'static str,
        /// What the instruction needs.
        expected: &'static str,
        /// What was found, in words.
        found: String,
    },
    /// A limit is exceeded.
    #[error("the pickle has more than {limit} {what}")]
    Limit {
        /// The kind of thing that exceeds the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}
