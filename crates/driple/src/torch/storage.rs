//! Storages, which hold the bytes of tensors' values.

use std::collections::BTreeMap;

use super::TorchError;
use super::objects::{self, Pickle, Storage};

/// Storages and their bytes, by the storage's name in the file.
pub(super) type Storages<'a> = BTreeMap<&'a str, (Storage<'a>, &'a [u8])>;

/// Reads each storage of a pickle once, even if several tensors use it. `read` returns the bytes of a storage, given
/// its name and its length in bytes.
pub(super) fn collect<'a>(
    pickle: &Pickle<'a>,
    mut read: impl FnMut(&'a str, usize) -> Result<&'a [u8], TorchError>,
) -> Result<Storages<'a>, TorchError> {
    let mut storages = Storages::new();
    for storage in objects::storages(pickle) {
        let key = storage.key;
        if let Some((known, _)) = storages.get(key) {
            if *known != storage {
                return Err(fault(
                    key,
                    "the pickle describes them in two different ways",
                ));
            }
            continue;
        }
        let length = storage.len.checked_mul(storage.kind.size());
        let length = length.ok_or_else(|| fault(key, "there are too many"))?;
        let bytes = read(key, length)?;
        if bytes.len() != length {
            let found = format!("found {} bytes, expected {length}", bytes.len());
            return Err(fault(key, &found));
        }
        storages.insert(key, (storage, bytes));
    }
    Ok(storages)
}

/// The error for a faulty storage.
pub(super) fn fault(key: &str, fault: &str) -> TorchError {
    TorchError::Storage {
        key: key.chars().take(60).collect(),
        fault: fault.to_owned(),
    }
}
