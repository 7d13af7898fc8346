//! The number of threads.

use std::num::NonZeroUsize;

use gleaner_core::error::{Error, Result};

/// Most threads: far more than machines have cores, and few enough to be started.
const MOST: usize = 4096;

/// Has everything parallel use this many threads from now on.
///
/// # Errors
/// More than [`MOST`], or more than the system starts.
pub fn use_threads(threads: NonZeroUsize) -> Result<()> {
    if threads.get() > MOST {
        return Err(Error::Usage(format!(
            "{threads} threads are asked for, expected at most {MOST}"
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
    pool.build_global()
        .map_err(|e| Error::Run(format!("cannot start {threads} threads: {e}")))
}
