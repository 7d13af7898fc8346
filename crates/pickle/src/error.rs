//! The faults that can occur in a pickle.

use thiserror::Error;

/// The reason why a pickle could not be decoded, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("byte {offset}: {problem}")]
pub struct PickleError {
    /// Offset of the faulty instruction in bytes, counted from 0.
    pub offset: usize,
    /// The fault at this position.
    pub problem: Problem,
}

/// The fault reported by a [`PickleError`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The input does not begin with the first byte of a binary pickle.
    #[error(
        "this is not a pickle of protocol 2 to 5: such a pickle starts with byte 0x80, but the input {found}"
    )]
    NotAPickle {
        /// A description of the first bytes.
        found: String,
    },
    /// A pickle protocol other than 2 to 5.
    #[error("pickle protocol {0} is not supported (expected 2 to 5)")]
    Protocol(u8),
    /// The input ends too early.
    #[error("instruction {instruction} needs {needed} more bytes, but only {left} are left")]
    Truncated {
        /// The name of the instruction in Python's `pickletools`.
        instruction: &'static str,
        /// Number of bytes that the instruction needs.
        needed: u64,
        /// Number of remaining bytes.
        left: usize,
    },
    /// An instruction that is unsupported or that the caller refuses.
    #[error("instruction 0x{code:02x} ({name}) is not accepted; nothing was executed")]
    Instruction {
        /// The code of the instruction.
        code: u8,
        /// The instruction's name in Python's `pickletools`.
        name: &'static str,
    },
    /// A class or function that is not in the caller's list.
    #[error("{module}.{name} is not among the names accepted here; nothing was executed")]
    Global {
        /// The module. The module and the name are escaped and shortened for
        /// messages.
        module: String,
        /// The name within the module.
        name: String,
    },
    /// A violation of the rules of the stack machine.
    #[error("instruction {instruction} needs {expected}, found {found}")]
    Malformed {
        /// The name of the instruction in Python's `pickletools`.
        instruction: &'static str,
        /// A description of what the instruction needs.
        expected: &'static str,
        /// A description of what was found.
        found: String,
    },
    /// The pickle exceeds one of the limits of this crate.
    #[error("the pickle has more than {limit} {what}")]
    Limit {
        /// The kind of items whose number exceeds the limit.
        what: &'static str,
        /// The limit that is exceeded.
        limit: usize,
    },
}
