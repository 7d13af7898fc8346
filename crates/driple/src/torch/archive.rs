//! Files written by torch 1.6 and later: uncompressed zip archives that hold a pickle and the
//! values of its tensors.

use std::io::{Cursor, copy, sink};

use zip::{CompressionMethod, ZipArchive};

use super::TorchError;
use super::objects::{self, Pickle};
use super::storage::{self, Storages};

/// The suffix of the pickle's name in the archive.
const PICKLE: &str = "/data.pkl";

/// The objects of an archive, and the values of its tensors, borrowed from `bytes`.
pub(super) fn open(bytes: &[u8]) -> Result<(Pickle<'_>, Storages<'_>), TorchError> {
    let mut archive = Archive::open(bytes)?;
    let folder = archive.folder()?;
    archive.check_order(&folder)?;
    let pickle = archive.file(&format!("{folder}{PICKLE}"))?;
    let pickle = objects::decode(pickle, "data.pkl")?;
    let storages = storage::collect(&pickle, |key, _| {
        archive.file(&format!("{folder}/data/{key}"))
    })?;
    Ok((pickle, storages))
}

struct Archive<'a> {
    bytes: &'a [u8],
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// The number of bytes that may still be read. It starts at the length of the archive, so an
    /// archive whose files overlap many times is rejected.
    left: usize,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, TorchError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(wrong)?;
        if zip.has_duplicate_names() {
            return Err(TorchError::Archive(
                "two files in it have the same name".to_owned(),
            ));
        }
        let left = bytes.len();
        Ok(Archive { bytes, zip, left })
    }

    /// The folder that contains all files. Its name was chosen when the archive was saved.
    fn folder(&self) -> Result<String, TorchError> {
        let names = self.zip.file_names_raw();
        let folders = names.filter_map(|name| name.strip_suffix(PICKLE.as_bytes()));
        let folders: Vec<&[u8]> = folders.filter(|folder| !folder.contains(&b'/')).collect();
        match folders.as_slice() {
            [folder] => String::from_utf8(folder.to_vec())
                .map_err(|_| TorchError::Archive("a name in it is not UTF-8".to_owned())),
            others => {
                let fault = format!(
                    "it has {} folders that contain data.pkl, expected one",
                    others.len()
                );
                Err(TorchError::Archive(fault))
            }
        }
    }

    /// Checks that values are stored in little-endian order. Archives without the file `byteorder`
    /// pass this check.
    fn check_order(&mut self, folder: &str) -> Result<(), TorchError> {
        let name = format!("{folder}/byteorder");
        if self.zip.index_for_name(&name).is_none() || self.file(&name)? == b"little" {
            return Ok(());
        }
        let fault = "its values are stored in big-endian order: save it on a little-endian machine";
        Err(TorchError::Archive(fault.to_owned()))
    }

    /// Returns the bytes of a file in the archive, after verifying the file's checksum.
    fn file(&mut self, name: &str) -> Result<&'a [u8], TorchError> {
        let named = |fault: &str| TorchError::Archive(format!("{}: {fault}", name.escape_debug()));
        let mut file = self
            .zip
            .by_name(name)
            .map_err(|error| named(&error.to_string()))?;
        if file.compression() != CompressionMethod::Stored || file.encrypted() {
            return Err(named("it is compressed or encrypted"));
        }
        let start = file
            .data_start()
            .and_then(|start| usize::try_from(start).ok());
        let length = usize::try_from(file.size()).ok();
        let range = start.zip(length).and_then(|(start, length)| {
            let end = start.checked_add(length)?;
            self.bytes.get(start..end)
        });
        let bytes = range.ok_or_else(|| named("it is truncated"))?;
        let left = self.left.checked_sub(bytes.len());
        self.left = left.ok_or_else(|| named("files overlap"))?;
        let read = copy(&mut file, &mut sink()).map_err(|error| named(&error.to_string()))?;
        if read != bytes.len() as u64 {
            return Err(named("it is truncated"));
        }
        Ok(bytes)
    }
}

fn wrong(error: zip::result::ZipError) -> TorchError {
    TorchError::Archive(error.to_string())
}
