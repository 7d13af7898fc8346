//! Temporary folders for sockets. Only their owner can enter them.
//!
//! A process holds a lock on each of its folders. A later process can therefore recognise and remove the folders of a
//! process that was killed.

use std::fs::{self, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Maximum length of a socket's path in bytes: the system's structure holds 108 bytes, including the terminating NUL.
const LONGEST: usize = 107;

/// The parent of the folders if the path of the usual parent is too long for a socket.
const SHORT: &str = "/tmp";

/// Maximum number of attempts to create a folder. An attempt fails if another process mistakes the new folder for a
/// leftover.
const ATTEMPTS: usize = 10;

/// Creates and removes folders whose names have the same prefix.
#[derive(Debug)]
pub struct SocketFolders {
    prefix: &'static str,
    parent: PathBuf,
}

/// A folder. Dropping this value removes the folder with its content.
#[derive(Debug)]
pub struct SocketFolder {
    folder: TempDir,
    _lock: File,
}

impl SocketFolders {
    /// The folders in the system's temporary folder, or in /tmp if the path of a socket called `socket` would be too
    /// long there.
    pub fn new(prefix: &'static str, socket: &str) -> Self {
        let parent = parent(std::env::temp_dir(), prefix, socket);
        SocketFolders { prefix, parent }
    }

    /// Creates a folder with mode 0700, and calls `fill` with the folder's path to fill it. Returns the folder and the
    /// result of `fill`.
    ///
    /// # Errors
    /// The folder cannot be created or filled in several attempts. An attempt fails if another process removes the new
    /// folder before it is locked.
    pub fn create<T>(
        &self,
        fill: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<(SocketFolder, T)> {
        let mut attempts = 1..ATTEMPTS;
        loop {
            match self.attempt(&fill) {
                Err(_) if attempts.next().is_some() => {}
                created => return created,
            }
        }
    }

    fn attempt<T>(&self, fill: impl Fn(&Path) -> io::Result<T>) -> io::Result<(SocketFolder, T)> {
        let folder = tempfile::Builder::new()
            .prefix(self.prefix)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&self.parent)?;
        let lock = File::open(folder.path())?;
        // Another process may hold the lock because it is removing leftovers. On a file system without locks,
        // leftovers are never removed.
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let filled = fill(folder.path())?;
        let folder = SocketFolder {
            folder,
            _lock: lock,
        };
        Ok((folder, filled))
    }

    /// Removes the folders of processes that were killed.
    pub fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.parent).into_iter().flatten().flatten() {
            let is_ours = entry.file_name().to_string_lossy().starts_with(self.prefix)
                && entry.metadata().is_ok_and(|found| {
                    found.is_dir() && found.uid() == rustix::process::geteuid().as_raw()
                });
            let is_left = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
            if is_ours && is_left() {
                // Another process may be removing the folder at the same time.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

impl SocketFolder {
    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Chooses the parent of the folders.
fn parent(temporary: PathBuf, prefix: &str, socket: &str) -> PathBuf {
    // The name of each folder is the prefix and six random characters.
    let rest = prefix.len() + 6 + socket.len() + 2;
    if temporary.as_os_str().len() + rest <= LONGEST {
        temporary
    } else {
        SHORT.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const PREFIX: &str = "gleaner-test-";
    const SOCKET: &str = "progress";

    fn within(parent: &Path) -> SocketFolders {
        SocketFolders {
            prefix: PREFIX,
            parent: parent.to_owned(),
        }
    }

    fn bind(folder: &Path) -> io::Result<(PathBuf, UnixListener)> {
        let path = folder.join(SOCKET);
        let listener = UnixListener::bind(&path)?;
        Ok((path, listener))
    }

    #[test]
    fn a_long_path_is_replaced_by_a_short_one() {
        let place = |temporary: PathBuf| parent(temporary, PREFIX, SOCKET);
        assert_eq!(place("/scratch".into()), Path::new("/scratch"));
        assert_eq!(place("/x".repeat(60).into()), Path::new(SHORT));
        // The system must accept the longest path that is chosen.
        let root = tempfile::tempdir().unwrap();
        let taken = (0..200).rev().find_map(|length| {
            let folder = root.path().join("x".repeat(length));
            (place(folder.clone()) == folder).then_some(folder)
        });
        let taken = taken.unwrap();
        fs::create_dir(&taken).unwrap();
        let (folder, (path, _listener)) = within(&taken).create(bind).unwrap();
        assert_eq!(path.as_os_str().len(), LONGEST);
        assert_eq!(folder.path().metadata().unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        // A killed process no longer holds its lock.
        let left = at("gleaner-test-left00");
        fs::create_dir(&left).unwrap();
        drop(UnixListener::bind(left.join(SOCKET)).unwrap());
        fs::create_dir(at("gleaner-other")).unwrap();
        let folders = within(root.path());
        let live = folders.create(bind).unwrap();
        std::os::unix::fs::symlink("gleaner-other", at("gleaner-test-link")).unwrap();
        folders.remove_leftovers();
        assert!(!left.exists() && live.1.0.exists());
        assert!(at("gleaner-other").exists() && at("gleaner-test-link").is_symlink());
        drop(live.0);
        assert!(!live.1.0.exists());
    }
}
