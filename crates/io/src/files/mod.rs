//! Atomic file writes, locks on directories, and digests.

mod atomic;
mod hashed;
mod lock;
mod output;
mod regular;

pub use atomic::{
    AtomicFile, ClosedFile, UNFINISHED_ENDING, discard_unfinished, is_unfinished, sync_directory,
    write, write_bytes,
};
pub use hashed::Hashed;
pub use lock::DirLock;
pub use output::Output;
pub use regular::{open_regular, read_regular};
