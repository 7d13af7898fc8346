//! Reads files written by `torch.save` without executing them: the published data sets, and the
//! weights of models.
//!
//! Such a file holds a pickle. [`gleaner_pickle`] decodes the pickle without executing it, and only records the calls
//! that the pickle requests. `globals` lists the classes and functions that files are allowed to refer to; any other
//! name is an error. `objects` interprets the recorded calls. The cost of reading a file is bounded by the file's
//! length: the code does not recurse, and copies of shared objects are charged to a budget.
//!
//! Both file formats can be read, with pickle protocols 2 to 5. Torch 1.6 and later write zip
//! archives (`archive`). Earlier versions write a sequence of pickles, followed by the values of
//! tensors (`legacy`).

mod archive;
mod data;
mod error;
mod globals;
mod legacy;
mod objects;
mod state;
mod storage;
mod tensor;

pub use data::{dataset, is_dataset};
pub use error::{Problem, TorchError};
pub use state::tensors;
pub use tensor::{Tensor, Values};

use gleaner_pickle::Budget;
use objects::{Object, Pickle, Value};
use storage::Storages;

/// The budget of a file, as a multiple of its length. It is spent on elements of tensors, bytes of
/// names and visited objects. A file whose tensors share no values spends less than twice its
/// length.
const EXPANSION: usize = 4;

/// A file: the objects in it, and the values of its tensors.
struct Saved<'a> {
    pickle: Pickle<'a>,
    storages: Storages<'a>,
    /// The length of the file in bytes.
    length: usize,
    budget: Budget,
}

impl<'a> Saved<'a> {
    fn object(&self, value: Value<'a>) -> Object<'_, 'a> {
        objects::object(&self.pickle, value)
    }

    /// A description of a value for error messages.
    fn describe(&self, value: Value<'a>) -> String {
        objects::describe(&self.pickle, value)
    }

    /// Charges the budget for elements, bytes or objects that are about to be copied.
    fn spend(&self, amount: usize) -> Result<(), TorchError> {
        let length = self.length;
        let spent = self.budget.spend(amount, 1);
        spent.ok_or(TorchError::Large { length })
    }
}

/// Whether a file starts like a file written by `torch.save`.
#[must_use]
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE) || bytes.starts_with(&legacy::MAGIC)
}

/// The first bytes of zip archives.
const ARCHIVE: &[u8] = b"PK";

/// Opens a file in either format.
fn open(bytes: &[u8]) -> Result<Saved<'_>, TorchError> {
    let (pickle, storages) = if bytes.starts_with(ARCHIVE) {
        archive::open(bytes)?
    } else if bytes.starts_with(&legacy::MAGIC) {
        legacy::open(bytes)?
    } else {
        let start = &bytes[..bytes.len().min(4)];
        return Err(TorchError::Format(format!("{start:02x?}")));
    };
    Ok(Saved {
        pickle,
        storages,
        length: bytes.len(),
        budget: Budget::new(bytes.len().saturating_mul(EXPANSION)),
    })
}
