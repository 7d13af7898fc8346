//! Files and folders on which all workloads of a plan depend.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::check::Checker;

/// Maximum total number of files in all inputs.
const MOST: usize = 10_000;

/// The files of the inputs that a plan lists. The files of each input are sorted by name. A folder stands for all
/// files in it, except hidden files and Python's caches.
pub(super) fn read(
    checker: &mut Checker<'_>,
    listed: Option<&Spanned<Vec<String>>>,
    folder: &Path,
) -> Vec<PathBuf> {
    let Some(listed) = listed else {
        return Vec::new();
    };
    let (at, mut files) = (listed.span().start, Vec::new());
    for name in listed.get_ref() {
        if add(&folder.join(name), &mut files).is_err() {
            let expected = format!(
                "existing files and folders, relative to the plan, with at most {MOST} files"
            );
            checker.add(at, "inputs", format!("{name:?}"), &expected);
        }
    }
    files
}

/// Adds a file, or the files of a folder.
fn add(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if fs::metadata(path)?.is_file() {
        files.push(path.to_owned());
        return if files.len() > MOST {
            Err(io::ErrorKind::FileTooLarge.into())
        } else {
            Ok(())
        };
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    paths.sort();
    let is_own = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && name != "__pycache__"
    };
    // Symbolic links are skipped, because they may form cycles.
    let is_plain =
        |path: &&PathBuf| fs::symlink_metadata(path).is_ok_and(|found| !found.is_symlink());
    paths
        .iter()
        .filter(is_own)
        .filter(is_plain)
        .try_for_each(|path| add(path, files))
}
