//! Where the published data lies.

use std::path::{Path, PathBuf};

/// A file of the shared data, or `None`, with a word to stderr, where it is missing.
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data")
        .join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}
