//! Files that appear whole or not at all, directories that one run writes at a time, and
//! digests.

mod digest;
mod lock;
mod output;
mod whole;

pub use digest::{Digest, Hashed};
pub use lock::DirLock;
pub use output::Output;
pub use whole::{Whole, discard_unfinished, is_unfinished, sync_directory, write, write_bytes};
