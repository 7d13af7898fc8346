//! Runs a function on a pool with a given number of threads.

use std::num::NonZeroUsize;

use gleaner_domain::error::{Error, Result};

/// Maximum number of threads. A process can start this many threads, and machines have far fewer cores.
const MOST: usize = 4096;

/// Stack size of a thread, in bytes. This is the default stack size of a program's first thread on Linux.
const STACK: usize = 8 << 20;

/// Calls `run` on a pool of `threads` threads; by default, the pool has one thread for each core. All parallel code in
/// `run` uses the pool.
///
/// # Errors
/// More than 4096 threads are requested, the system cannot start that many threads, or `run` fails.
pub fn with<T: Send>(
    threads: Option<NonZeroUsize>,
    run: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    // A pool of 0 threads has one thread for each core.
    let count = threads.map_or(0, NonZeroUsize::get);
    if count > MOST {
        return Err(Error::Usage(format!(
            "{count} threads requested, expected at most {MOST}"
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
