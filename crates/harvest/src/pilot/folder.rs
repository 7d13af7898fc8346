//! The temporary folder of a run on its node, with the socket for reports and the host discovery script.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Name prefix of the folders.
const PREFIX: &str = "gleaner-harvest-";

/// Maximum length of a socket's path in bytes: the system's structure holds 108 bytes, including the terminating NUL.
const LONGEST_PATH: usize = 107;

/// The parent of the temporary folders if the path of the usual parent is too long for a socket.
const SHORT: &str = "/tmp";

/// Maximum number of attempts to create a folder. An attempt fails if another pilot mistakes the new folder for a
/// leftover.
const ATTEMPTS: usize = 10;

/// A folder that only its owner can enter. Dropping this value removes the folder. The pilot holds a lock on the
/// folder, so that the next pilot of the node can recognise and remove the folder of a killed pilot.
#[derive(Debug)]
pub(super) struct RunFolder {
    folder: TempDir,
    _lock: File,
}

impl RunFolder {
    /// Creates a folder.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn create() -> io::Result<Self> {
        let place = place();
        for _ in 1..ATTEMPTS {
            match Self::attempt(&place) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {}
                created => return created,
            }
        }
        Self::attempt(&place)
    }

    fn attempt(place: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(place)?;
        let lock = File::open(folder.path())?;
        // On a file system without locks, leftovers are never removed.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(ErrorKind::ResourceBusy.into());
        }
        Ok(RunFolder {
            folder,
            _lock: lock,
        })
    }

    /// Path of the socket for reports.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("progress")
    }

    /// Path of the host discovery script.
    pub fn hosts(&self) -> PathBuf {
        self.folder.path().join("hosts")
    }

    /// Writes the host discovery script: an executable file that prints a line `host:slots` for each node. The script
    /// is replaced in one step, so a program that executes it gets either the old nodes or the new ones.
    ///
    /// # Errors
    /// The script cannot be written, or the name of a node is not a host's name.
    pub fn write_hosts(&self, nodes: &[String], slots: u32) -> io::Result<()> {
        let mut script = "#!/bin/sh\ncat <<'END'\n".to_owned();
        for node in nodes {
            if !is_host_name(node) {
                let why = format!("found {node:?} as the name of a node, expected a host's name");
                return Err(io::Error::new(ErrorKind::InvalidInput, why));
            }
            script.push_str(&format!("{node}:{slots}\n"));
        }
        script.push_str("END\n");
        let temporary = self.folder.path().join("hosts.part");
        let mut options = OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o700);
        options.open(&temporary)?.write_all(script.as_bytes())?;
        fs::rename(temporary, self.hosts())
    }
}

/// Whether a name contains only the characters of host names and is not `END`. Such a name cannot end the here-document
/// of the script.
pub(crate) fn is_host_name(name: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=253).contains(&name.len()) && name != "END" && name.chars().all(is_safe)
}

/// Chooses the folder in which temporary folders are created.
fn place() -> PathBuf {
    let usual = std::env::temp_dir();
    // The name of each folder is the prefix and six random characters.
    let rest = PREFIX.len() + 6 + "progress".len() + 2;
    if usual.as_os_str().len() + rest <= LONGEST_PATH {
        usual
    } else {
        SHORT.into()
    }
}

/// Removes the folders of pilots that were killed.
pub(super) fn remove_leftovers() {
    for entry in fs::read_dir(place()).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|found| {
                found.is_dir() && found.uid() == rustix::process::geteuid().as_raw()
            });
        let is_left = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
        if is_ours && is_left() {
            // Another pilot may be removing the folder at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    // The contract of Horovod's host discovery script: an executable file that prints `host:slots` lines.
    #[test]
    fn the_script_prints_the_current_nodes() {
        let folder = RunFolder::create().unwrap();
        let mode = folder.folder.path().metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
        let printed = || {
            let output = Command::new(folder.hosts()).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        };
        folder.write_hosts(&strings(&["n1", "n2.site"]), 4).unwrap();
        assert_eq!(printed(), "n1:4\nn2.site:4\n");
        folder.write_hosts(&strings(&["n3"]), 1).unwrap();
        assert_eq!(printed(), "n3:1\n");
        for wrong in ["", "END", "a b", "$(id)", "a\nEND\nid", "a:1"] {
            assert!(
                folder.write_hosts(&strings(&[wrong]), 1).is_err(),
                "{wrong:?}"
            );
        }
        assert_eq!(printed(), "n3:1\n");
    }

    #[test]
    fn only_folders_of_pilots_that_have_ended_are_removed() {
        let folder = RunFolder::create().unwrap();
        folder.write_hosts(&[], 1).unwrap();
        let left = RunFolder::create().unwrap();
        let path = left.folder.path().to_owned();
        // A killed pilot leaves its folder behind, without a lock.
        std::mem::forget(left.folder);
        drop(left._lock);
        remove_leftovers();
        assert!(folder.hosts().exists());
        assert!(!path.exists());
    }
}
