//! An observer that shows a run in the terminal.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_domain::Observer;

use super::progress::Progress;
use super::{interrupt, remark};

/// Prints notes, shows progress, and stops the run at the first signal.
#[derive(Default)]
pub struct Terminal {
    is_quiet: bool,
    progress: Mutex<Option<Progress>>,
}

impl Terminal {
    /// Creates an observer that shows progress unless `is_quiet` is set.
    pub fn new(is_quiet: bool) -> Self {
        Terminal {
            is_quiet,
            progress: Mutex::default(),
        }
    }

    /// Runs `print` with the progress bar hidden.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let bar = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        match bar.as_ref() {
            Some(bar) => bar.aside(print),
            None => print(),
        }
    }

    /// Removes the progress bar.
    pub fn clear(&self) {
        let bar = self
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(bar) = bar {
            bar.finish();
        }
    }
}

impl Drop for Terminal {
    /// Removes the progress bar even if a run fails.
    fn drop(&mut self) {
        self.clear();
    }
}

impl Observer for Terminal {
    fn remark(&self, remarks: &[String]) {
        if !remarks.is_empty() {
            self.clear();
            remark(remarks);
        }
    }

    fn progress(&self, done: usize, total: usize) {
        if let Ok(mut progress) = self.progress.lock() {
            let bar = progress.get_or_insert_with(|| Progress::new(self.is_quiet));
            bar.update(done, total);
        }
    }

    fn detail(&self, words: &str) {
        if let Ok(mut progress) = self.progress.lock()
            && let Some(bar) = progress.as_mut()
        {
            bar.say(words);
        }
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        interrupt::flag()
    }
}
