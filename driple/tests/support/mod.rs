//! Where the reference data lies.

use std::path::Path;

/// A file of the reference data, or `None`, with a word to stderr, where it is missing.
pub fn reference(name: &str) -> Option<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/driple");
    let path = Path::new(folder).join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        eprintln!("skipped: {} is missing", path.display());
    }
    bytes
}
