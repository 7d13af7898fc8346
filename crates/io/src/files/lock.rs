//! Locks on directories, so that a directory has only one writer at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use gleaner_domain::error::{Error, Result};

/// The exclusive right to write to a directory. It ends when this value is dropped or when the
/// process ends, even if the process is killed. The operating system holds the lock, so no lock
/// file is left behind.
#[derive(Debug)]
pub struct DirLock {
    /// A handle to the directory itself. `None` if it cannot be locked, for example because its
    /// file system has no locks.
    _directory: Option<File>,
}

impl DirLock {
    /// Locks an existing directory.
    ///
    /// On a file system without locks, this succeeds without a lock, so two runs can write to the
    /// directory at the same time.
    ///
    /// # Errors
    /// [`Error::Run`] if another process holds the lock.
    pub fn acquire(path: &Path) -> Result<Self> {
        let Ok(directory) = File::open(path) else {
            return Ok(DirLock { _directory: None });
        };
        match directory.try_lock() {
            Ok(()) => Ok(DirLock {
                _directory: Some(directory),
            }),
            Err(TryLockError::WouldBlock) => Err(Error::Run(format!(
                "another run is writing to {}; wait for it to end, or choose another directory",
                path.display()
            ))),
            Err(TryLockError::Error(_)) => Ok(DirLock { _directory: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let first = DirLock::acquire(folder.path()).unwrap();
        let refused = DirLock::acquire(folder.path()).unwrap_err();
        assert_eq!(refused.exit_code(), 1);
        assert!(refused.to_string().contains("another run is writing"));
        drop(first);
        DirLock::acquire(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
