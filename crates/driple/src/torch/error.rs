//! Why a file of torch cannot be read.

use gleaner_pickle::Problem as Decoding;

use crate::dataset::ArrayFault;

/// Why a file of `torch.save` cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TorchError {
    /// Neither form of such files.
    #[error(
        "this is not a file of torch.save: those start with PK or the bytes 80 02 8a 0a, this one \
         with {0}; unpack it first if it is compressed, or save it again"
    )]
    Format(String),
    /// A damaged or unusual zip archive.
    #[error("the zip archive is not one of torch.save: {0}; copy or save the file again")]
    Archive(String),
    /// A pickle that cannot be read.
    #[error("{pickle}, byte {offset}: {problem}")]
    Pickle {
        /// Which of the file's pickles.
        pickle: &'static str,
        /// Where in it the instruction at fault is, from 0.
        offset: usize,
        /// What is wrong there.
        problem: Problem,
    },
    /// Values that are not as the pickle says.
    #[error("the values of storage {key:?}: {fault}; the file is damaged: copy or save it again")]
    Storage {
        /// The name of the storage.
        key: String,
        /// What is wrong.
        fault: String,
    },
    /// A tensor that its storage does not hold.
    #[error("{tensor}: {fault}; the file is damaged: copy or save it again")]
    Tensor {
        /// Which tensor.
        tensor: String,
        /// What is wrong.
        fault: String,
    },
    /// More than a file of its length holds.
    #[error(
        "what the file's {length} bytes refer to is too large or too deep, as in files made to use \
         up memory; save tensors that share values as clones"
    )]
    Large {
        /// The length of the file in bytes.
        length: usize,
    },
    /// Something else where a part of the data should be.
    #[error("{place} is {found}, expected {expected}")]
    Layout {
        /// Where.
        place: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// Two tensors of one name.
    #[error("two tensors are called {0:?}; rename one")]
    Twice(String),
    /// Arrays that are no graphs.
    #[error("batch {batch}: {fault}")]
    Arrays {
        /// The batch: its part and its number from 0.
        batch: String,
        /// What is wrong with it.
        fault: ArrayFault,
    },
}

/// What is wrong with a pickle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A damaged pickle, or one that is not of tensors.
    #[error("{0}; {remedy}", remedy = remedy(.0))]
    Pickle(Decoding),
    /// Objects that are not as torch saves them.
    #[error("{0}; the file is damaged: copy or save it again")]
    Malformed(&'static str),
}

/// What the user can do about a pickle that cannot be decoded.
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
