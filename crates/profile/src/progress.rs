//! The socket to which a workload can send its reports instead of printing them. Each report is a line of JSON.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use gleaner_process::{SocketFolder, SocketFolders};

use crate::log::Log;

/// Name prefix of the folders that contain sockets.
const PREFIX: &str = "gleaner-profile-";

/// Name of the socket within its folder.
const NAME: &str = "progress";

/// Maximum number of simultaneous connections of a workload.
const MOST_CONNECTIONS: usize = 64;

/// A socket in a folder that only its owner can enter. Dropping this value removes the socket and the folder.
#[derive(Debug)]
pub(crate) struct ProgressSocket {
    _folder: SocketFolder,
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
        let folders = SocketFolders::new(PREFIX, NAME);
        folders.remove_leftovers();
        let (folder, (path, listener)) = folders.create(|folder| {
            let path = folder.join(NAME);
            let listener = UnixListener::bind(&path)?;
            Ok((path, listener))
        })?;
        let socket = ProgressSocket {
            _folder: folder,
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
