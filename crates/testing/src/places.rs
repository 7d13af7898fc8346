//! Paths of the files that tests read. The paths are determined at run time, because clones of
//! the workspace can share a target directory. A test may therefore run in a clone other than
//! the clone in which it was built.

use std::env;
use std::path::PathBuf;

/// The folder of the workspace: the nearest folder with a Cargo.lock at or above the package under
/// test.
///
/// # Panics
/// If the test is run without cargo.
#[must_use]
pub fn workspace() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let mut folders = package.iter().flat_map(|package| package.ancestors());
    let Some(found) = folders.find(|folder| folder.join("Cargo.lock").exists()) else {
        panic!("run the tests with cargo, which sets CARGO_MANIFEST_DIR")
    };
    found.to_owned()
}

/// The path of a file of the published data in `../shared/data`, relative to the workspace. `None`, with a message on
/// stderr, if the file is missing.
#[must_use]
pub fn shared(name: &str) -> Option<PathBuf> {
    let path = workspace().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is missing", path.display());
    None
}
