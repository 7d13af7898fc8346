//! The socket to which a workload may report instead of printing: a line of JSON a report.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crate::log::Log;

/// Most connections of a workload at a time.
const MOST_CONNECTIONS: usize = 64;

/// A socket in a folder that only its owner can enter. Dropping it removes both.
#[derive(Debug)]
pub(crate) struct ProgressSocket {
    folder: PathBuf,
    path: PathBuf,
    is_over: Arc<AtomicBool>,
}

impl ProgressSocket {
    /// Opens a socket. What arrives is added to `log`.
    ///
    /// # Errors
    /// It cannot be made in the folder for temporary files.
    pub fn open(log: &Arc<Log>) -> io::Result<Self> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("gleaner-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let socket = ProgressSocket {
            path: folder.join("progress"),
            folder,
            is_over: Arc::default(),
        };
        let listener = UnixListener::bind(&socket.path)?;
        let (log, is_over) = (Arc::clone(log), Arc::clone(&socket.is_over));
        thread::spawn(move || accept(&listener, &log, &is_over));
        Ok(socket)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ProgressSocket {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = UnixStream::connect(&self.path);
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Reads every connection in a thread of its own, until the socket is closed.
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
