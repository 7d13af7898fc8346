//! Finds the executable file of a program.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Finds the file of a program that will be started in `directory`. Returns `None` if there is no such file.
/// Like the operating system, this function resolves a name with a slash against the directory, and
/// looks up any other name in `PATH`, where it skips files that are not executable.
pub fn find_program(program: &str, directory: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(directory.join(program)).filter(|path| path.is_file());
    }
    let all = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&all).map(|folder| folder.join(program));
    places.find(|path| path.is_file() && is_executable(path))
}

/// Whether a file can be executed by its owner, its group or others.
pub fn is_executable(file: &Path) -> bool {
    let metadata = file.metadata();
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_path_and_paths_from_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path();
        std::fs::write(at.join("solve"), "").unwrap();
        let shell = find_program("sh", at).unwrap();
        assert!(shell.is_absolute() && shell.ends_with("sh"), "{shell:?}");
        assert_eq!(find_program("solve", at), None);
        assert_eq!(find_program("./solve", at), Some(at.join("./solve")));
        assert_eq!(find_program("./other", at), None);
        assert!(is_executable(&shell) && !is_executable(&at.join("solve")));
        // `/usr` exists, but it is a directory.
        assert_eq!(find_program("/usr", at), None);
    }
}
