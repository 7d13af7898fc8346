//! The number of threads.

use std::num::NonZeroUsize;

use crate::error::{Error, Result};

/// Has everything parallel use this many threads from now on.
///
/// # Errors
/// When the system refuses them.
pub fn use_threads(threads: NonZeroUsize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
    pool.build_global()
        .map_err(|e| Error::Run(format!("cannot start {threads} threads: {e}")))
}
