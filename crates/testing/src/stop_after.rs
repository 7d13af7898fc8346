//! An observer for tests of runs that can be stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_observer::Observer;

/// Stops a run after a given number of progress reports, and records the run's remarks and progress.
#[derive(Debug, Default)]
pub struct StopAfter {
    reports: usize,
    stop: Arc<AtomicBool>,
    remarks: Mutex<Vec<String>>,
    progress: Mutex<Vec<(usize, usize)>>,
}

impl StopAfter {
    /// Stops the run after this number of progress reports; 0 stops it before it starts.
    #[must_use]
    pub fn new(reports: usize) -> Self {
        StopAfter {
            reports,
            stop: Arc::new(AtomicBool::new(reports == 0)),
            ..StopAfter::default()
        }
    }

    /// The remarks that the run has made so far.
    pub fn remarks(&self) -> Vec<String> {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.clone()
    }

    /// The progress reports so far: completed steps and total steps.
    pub fn progress(&self) -> Vec<(usize, usize)> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.clone()
    }
}

impl Observer for StopAfter {
    fn remark(&self, remarks: &[String]) {
        let mut all = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(remarks);
    }

    fn progress(&self, done: usize, total: usize) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.push((done, total));
        if progress.len() >= self.reports {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}
