//! Files written by torch before version 1.6: a sequence of pickles, followed by the values of
//! tensors.

use std::collections::BTreeMap;

use super::TorchError;
use super::objects::{self, Object, Pickle, Value};
use super::storage::{self, Storages, fault};

/// The first pickle: a number that identifies this format.
pub(super) const MAGIC: [u8; 15] = [
    0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.',
];

/// The version of the format. No other version exists.
const VERSION: i64 = 1001;

/// The objects of a file, and the values of its tensors, borrowed from `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<(Pickle<'_>, Storages<'_>), TorchError> {
    let mut rest = bytes.get(MAGIC.len()..).unwrap_or_default();
    let mut next = |name| {
        let pickle = objects::decode(rest, name)?;
        rest = rest.get(pickle.length..).unwrap_or_default();
        Ok(pickle)
    };
    check_version(&next("the version")?)?;
    check_system(&next("the description of the system")?)?;
    let pickle = next("the saved object")?;
    let keys = next("the list of storages")?;
    let values = values(&pickle, &keys, rest)?;
    let storages = storage::collect(&pickle, |key, _| {
        let bytes = values.get(key).copied();
        bytes.ok_or_else(|| fault(key, "the file does not contain them"))
    })?;
    Ok((pickle, storages))
}

fn check_version(pickle: &Pickle) -> Result<(), TorchError> {
    match pickle.root {
        Value::Int(VERSION) => Ok(()),
        other => Err(TorchError::Layout {
            place: "the version".to_owned(),
            found: objects::describe(pickle, other),
            expected: "1001; save the file again",
        }),
    }
}

/// Checks that values are stored in little-endian order.
fn check_system(pickle: &Pickle) -> Result<(), TorchError> {
    let entries = match objects::object(pickle, pickle.root) {
        Object::Dict(entries) => entries,
        _ => &[],
    };
    let little = (Value::Text("little_endian"), Value::Bool(true));
    if entries.contains(&little) {
        Ok(())
    } else {
        Err(TorchError::Layout {
            place: "the byte order".to_owned(),
            found: "big-endian or unknown".to_owned(),
            expected: "little-endian; save the model again on a little-endian machine",
        })
    }
}

/// The values of each storage. For each key, in order, the file has an 8-byte count, followed by
/// that number of values.
fn values<'a>(
    pickle: &Pickle<'a>,
    keys: &Pickle<'a>,
    mut rest: &'a [u8],
) -> Result<BTreeMap<&'a str, &'a [u8]>, TorchError> {
    let mut sizes = BTreeMap::new();
    for storage in objects::storages(pickle) {
        sizes.insert(storage.key, storage.kind.size());
    }
    let Object::List(names) = objects::object(keys, keys.root) else {
        return Err(TorchError::Layout {
            place: "the list of storages".to_owned(),
            found: objects::describe(keys, keys.root),
            expected: "a list; save the file again",
        });
    };
    let mut values = BTreeMap::new();
    for &key in names {
        let Value::Text(key) = key else {
            return Err(fault("?", "its name is not text"));
        };
        let size = sizes.get(key).copied();
        let size = size.ok_or_else(|| fault(key, "no tensor uses them"))?;
        let (read, after) =
            counted(rest, size).ok_or_else(|| fault(key, "the file ends before the last value"))?;
        rest = after;
        if values.insert(key, read).is_some() {
            return Err(fault(key, "they occur twice"));
        }
    }
    Ok(values)
}

/// Reads an 8-byte count, and then that number of values of `size` bytes each. Returns the values,
/// and the bytes that follow them.
fn counted(bytes: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let (count, rest) = bytes.split_first_chunk()?;
    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
    rest.split_at_checked(count.checked_mul(size)?)
}
