//! Errors that occur when files written by `torch.save` are read.

use gleaner_pickle::Problem as Decoding;

use crate::dataset::ArrayFault;

/// The reason why a file written by `torch.save` cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TorchError {
    /// The file is in neither of the two formats that `torch.save` writes. Holds the first bytes of
    /// the file.
    #[error(
        "this is not a file written by torch.save: such files start with PK or the bytes \
         80 02 8a 0a, but this one starts with {0}; unpack it first if it is compressed, or save \
         it again"
    )]
    Format(String),
    /// The zip archive is damaged, or it was not written by `torch.save`.
    #[error("the zip archive was not written by torch.save: {0}; copy or save the file again")]
    Archive(String),
    /// A pickle cannot be read.
    #[error("{pickle}, byte {offset}: {problem}")]
    Pickle {
        /// The name of the pickle.
        pickle: &'static str,
        /// The position of the faulty instruction in the pickle, in bytes from 0.
        offset: usize,
        /// The fault of the pickle.
        problem: Problem,
    },
    /// The values of a storage do not match the pickle.
    #[error("the values of storage {key:?}: {fault}; the file is damaged: copy or save it again")]
    Storage {
        /// The name of the storage.
        key: String,
        /// A description of the fault.
        fault: String,
    },
    /// A tensor reaches beyond its storage.
    #[error("{tensor}: {fault}; the file is damaged: copy or save it again")]
    Tensor {
        /// The name of the tensor.
        tensor: String,
        /// A description of the fault.
        fault: String,
    },
    /// The file describes more data than a file of its length normally does.
    #[error(
        "the file has {length} bytes but describes data that is too large or too deeply nested, \
         like a file made to exhaust memory; if tensors share storage, clone them before saving"
    )]
    Large {
        /// The length of the file in bytes.
        length: usize,
    },
    /// A part of the data is missing or is of the wrong kind.
    #[error("{place} is {found}, expected {expected}")]
    Layout {
        /// The name of the part.
        place: String,
        /// A description of the part that was found.
        found: String,
        /// A description of the expected part.
        expected: &'static str,
    },
    /// Two tensors have the same name.
    #[error("two tensors are called {0:?}; rename one")]
    Twice(String),
    /// The arrays of a batch are not valid graphs.
    #[error("batch {batch}: {fault}")]
    Arrays {
        /// The part and the index of the batch, from 0.
        batch: String,
        /// The fault in the arrays.
        fault: ArrayFault,
    },
}

/// A fault of a pickle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The pickle is damaged, or it holds objects other than tensors.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Pickle(Decoding),
    /// Objects do not have the form in which torch saves them.
    #[error("{0}; the file is damaged: copy or save it again")]
    Malformed(&'static str),
}

/// Advice for a user whose pickle cannot be decoded.
fn remedy(problem: &Decoding) -> &'static str {
    match problem {
        Decoding::NotAPickle { .. } | Decoding::Protocol(_) => "save with pickle_protocol=2",
        Decoding::Instruction { .. } => {
            "save only tensors, in tuples, lists and dicts, with pickle_protocol=2"
        }
        Decoding::Global { .. } => {
            "do not load this file elsewhere unless you trust it, and save only tensors \
             (model.state_dict())"
        }
        Decoding::Limit { .. } => "save fewer tensors to a file",
        _ => "the file is truncated or damaged: copy or save it again",
    }
}
