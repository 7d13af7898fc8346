//! Files that appear whole or not at all, directories that one run writes at a time, and
//! digests.

mod atomic;
mod digest;
mod lock;
mod output;

pub use atomic::{
    AtomicFile, discard_unfinished, is_unfinished, sync_directory, write, write_bytes,
};
pub use digest::{Digest, Hashed};
pub use lock::DirLock;
pub use output::Output;
