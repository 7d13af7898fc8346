//! Where tests find their files: asked for when they run, as clones that share a target directory
//! may run a test that was built in another one.

use std::env;
use std::path::PathBuf;

/// The folder of the workspace: the nearest one above the package under test that has a Cargo.lock.
///
/// # Panics
/// Where a test is run without cargo.
#[must_use]
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let mut folders = package.iter().flat_map(|package| package.ancestors());
    let found = folders.find(|folder| folder.join("Cargo.lock").exists());
    assert!(
        found.is_some(),
        "run the tests by cargo, which sets CARGO_MANIFEST_DIR"
    );
    found.unwrap_or(&PathBuf::new()).to_owned()
}

/// A file of the published data beside the workspace, or `None`, with a word to stderr, where it
/// is missing.
#[must_use]
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = workspace().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}
