//! Files of `torch.save`, read as data: the published data sets, and the weights of models.
//!
//! Such a file holds a pickle, a program for a small stack machine whose instructions may call any
//! Python function. Here a machine (`machine`) carries out only what tensors in containers need,
//! with a closed list of the names that it may call (`globals`); any other is an error, and nothing
//! in the file is ever executed. What it costs to read a file is bounded by the file's length:
//! lengths are checked against the bytes that are left, nothing recurses, and what is shared by
//! reference is expanded against a budget (`budget`).
//!
//! Both forms are read: zip archives (torch 1.6 and later; `archive`), and a row of pickles
//! followed by the values (`legacy`), of pickle protocols 2 to 5.

mod archive;
mod budget;
mod cursor;
mod data;
mod error;
mod globals;
mod legacy;
mod machine;
mod opcode;
mod state;
mod storage;
mod tensor;
mod value;

pub use data::{dataset, is_dataset};
pub use error::{Problem, TorchError};
pub use state::tensors;
pub use tensor::{Tensor, Values};

use budget::Budget;
use storage::Storages;
use value::Pickle;

/// A file: the objects in it, and the values of its tensors.
struct Saved<'a> {
    pickle: Pickle<'a>,
    storages: Storages<'a>,
    budget: Budget,
}

/// Whether a file starts as those of `torch.save` do.
#[must_use]
pub fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE) || bytes.starts_with(&legacy::MAGIC)
}

/// How zip archives start.
const ARCHIVE: &[u8] = b"PK";

/// Opens a file of either form.
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
        budget: Budget::new(bytes.len()),
    })
}
