//! The socket to which a workload may send its reports instead of printing them. Each report is a
//! line of JSON.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use tempfile::TempDir;

use crate::log::Log;

/// Name prefix of the folders that contain sockets.
const PREFIX: &str = "gleaner-profile-";

/// Name of the socket within its folder.
const NAME: &str = "progress";

/// Maximum length of a socket's path in bytes: the system's structure holds 108 bytes, including the
/// terminating NUL.
const LONGEST: usize = 107;

/// The folder for sockets if the path of the temporary folder is too long.
const SHORT: &str = "/tmp";

/// Maximum number of attempts to create a folder. An attempt fails if another process mistakes the new
/// folder for a leftover.
const ATTEMPTS: usize = 10;

/// Maximum number of simultaneous connections of a workload.
const MOST_CONNECTIONS: usize = 64;

/// A socket in a folder that only its owner can enter. Dropping this value removes the socket and the folder.
/// The process holds a lock on the folder, so that the next process can recognise and remove the folder of a
/// killed process.
#[derive(Debug)]
pub(crate) struct ProgressSocket {
    _folder: TempDir,
    _lock: File,
    path: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl ProgressSocket {
    /// Opens a socket. Incoming reports are added to `log`.
    ///
    /// # Errors
    /// The socket cannot be created in the temporary folder, or in /tmp if the path of the temporary
    /// folder is too long for a socket.
    pub fn open(log: &Arc<Log>) -> io::Result<Self> {
        let place = place(std::env::temp_dir());
        remove_leftovers(&place);
        let mut attempts = 1..ATTEMPTS;
        let (folder, lock, path, listener) = loop {
            match bind(&place) {
                Ok(bound) => break bound,
                Err(error) if attempts.next().is_none() => return Err(error),
                Err(_) => {}
            }
        };
        let socket = ProgressSocket {
            _folder: folder,
            _lock: lock,
            path,
            is_over: Arc::default(),
        };
        let (log, is_over) = (Arc::clone(log), Arc::clone(&socket.is_over));
        thread::spawn(move || accept(&listener, &log, &is_over));
        Ok(socket)
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ProgressSocket {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Connect once to wake the thread that accepts connections.
        let _ = UnixStream::connect(&self.path);
    }
}

/// Chooses the folder in which the folders of sockets are created.
fn place(temporary: PathBuf) -> PathBuf {
    // The name of each folder is the prefix and six random characters.
    let rest = PREFIX.len() + 6 + NAME.len() + 2;
    if temporary.as_os_str().len() + rest <= LONGEST {
        temporary
    } else {
        SHORT.into()
    }
}

/// Creates a folder, locks it, and opens the socket in it.
fn bind(place: &Path) -> io::Result<(TempDir, File, PathBuf, UnixListener)> {
    // The folder is created with mode 0700.
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
    let lock = File::open(folder.path())?;
    // Another process may hold the lock because it is removing leftovers. On a file system without locks, leftovers are
    // never removed.
    if let Err(TryLockError::WouldBlock) = lock.try_lock() {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    let path = folder.path().join(NAME);
    let listener = UnixListener::bind(&path)?;
    Ok((folder, lock, path, listener))
}

/// Removes the folders of processes that were killed.
fn remove_leftovers(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
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

/// Reads each connection in its own thread, until the socket is closed.
fn accept(listener: &UnixListener, log: &Arc<Log>, is_over: &AtomicBool) {
    let open = Arc::new(AtomicUsize::new(0));
    for connection in listener.incoming() {
        let Ok(connection) = connection else { return };
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        if open.load(Ordering::Relaxed) >= MOST_CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (log, open) = (Arc::clone(log), Arc::clone(&open));
        thread::spawn(move || {
            log.read_socket(connection);
            open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_path_is_replaced_by_a_short_one() {
        assert_eq!(place("/scratch".into()), Path::new("/scratch"));
        assert_eq!(place("/x".repeat(60).into()), Path::new(SHORT));
        // The system must accept the longest path that `place` accepts.
        let root = tempfile::tempdir().unwrap();
        let taken = (0..200).rev().find_map(|length| {
            let folder = root.path().join("x".repeat(length));
            (place(folder.clone()) == folder).then_some(folder)
        });
        let taken = taken.unwrap();
        fs::create_dir(&taken).unwrap();
        let (_folder, _lock, path, _listener) = bind(&taken).unwrap();
        assert_eq!(path.as_os_str().len(), LONGEST);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        // A killed process no longer holds its lock.
        let left = at("gleaner-profile-left00");
        fs::create_dir(&left).unwrap();
        drop(UnixListener::bind(left.join(NAME)).unwrap());
        fs::create_dir(at("gleaner-other")).unwrap();
        let live = bind(place.path()).unwrap();
        std::os::unix::fs::symlink("gleaner-other", at("gleaner-profile-link")).unwrap();
        remove_leftovers(place.path());
        assert!(!left.exists() && live.2.exists());
        assert!(at("gleaner-other").exists() && at("gleaner-profile-link").is_symlink());
    }
}
