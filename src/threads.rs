//! The number of threads.

use std::num::NonZeroUsize;

use gleaner_domain::error::{Error, Result};

/// Most threads: far more than machines have cores, and few enough to be started.
const MOST: usize = 4096;

/// Stack of a thread: that of a program's first thread on Linux.
const STACK: usize = 8 << 20;

/// Runs on a pool of this many threads, or of as many as there are cores. Everything parallel inside uses
/// them.
///
/// # Errors
/// More than 4096 threads, or more than the system starts; the errors of `run`.
pub fn with<T: Send>(
    threads: Option<NonZeroUsize>,
    run: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    // 0 stands for the number of cores.
    let count = threads.map_or(0, NonZeroUsize::get);
    if count > MOST {
        return Err(Error::Usage(format!(
            "{count} threads are asked for, expected at most {MOST}"
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .stack_size(STACK);
    let pool = pool
        .build()
        .map_err(|e| Error::Run(format!("cannot start {count} threads: {e}")))?;
    pool.install(run)
}
