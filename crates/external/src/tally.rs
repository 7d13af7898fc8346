//! The tally of a program's answers, kept up to date.

use std::sync::{Arc, Mutex, PoisonError};

use gleaner_core::results::programs::Tally;

/// A tally that is kept up to date by a solver in use.
#[derive(Debug, Clone, Default)]
pub struct TallyHandle(Arc<Mutex<Tally>>);

impl TallyHandle {
    /// The counts so far.
    pub fn get(&self) -> Tally {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes the counts.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a fault; `what` says what it is.
    pub(crate) fn fault(
        &self,
        count: impl FnOnce(&mut Tally) -> &mut usize,
        what: impl FnOnce() -> String,
    ) {
        self.with(|tally| {
            *count(tally) += 1;
            tally.first_fault.get_or_insert_with(what);
        });
    }
}
