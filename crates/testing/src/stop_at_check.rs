//! An observer for tests of functions that report no progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gleaner_observer::Observer;

/// Stops a run at its nth check of the stop flag.
#[derive(Debug)]
pub struct StopAtCheck {
    at: usize,
    checks: AtomicUsize,
    stop: Arc<AtomicBool>,
}

impl StopAtCheck {
    /// Stops the run at this check, counted from 1.
    #[must_use]
    pub fn new(at: usize) -> Self {
        StopAtCheck {
            at,
            checks: AtomicUsize::new(0),
            stop: Arc::default(),
        }
    }
}

impl Observer for StopAtCheck {
    fn stop(&self) -> &Arc<AtomicBool> {
        if self.checks.fetch_add(1, Ordering::Relaxed) + 1 >= self.at {
            self.stop.store(true, Ordering::Relaxed);
        }
        &self.stop
    }
}
