//! Tallies of the answers of external solvers, and of the failures of our own solvers.

use std::sync::{Arc, Mutex, PoisonError};

use gleaner_domain::results::programs::Tally;
use gleaner_domain::words::shortened;

/// A shared handle to the tally of a solver's answers. The solver updates the tally with each answer.
#[derive(Debug, Clone, Default)]
pub struct TallyHandle {
    tally: Arc<Mutex<Tally>>,
    /// Whether the solver is one of our own, whose answers are not judged.
    is_ours: bool,
}

impl TallyHandle {
    /// Creates the tally of one of our own solvers.
    pub(crate) fn of_ours() -> Self {
        TallyHandle {
            is_ours: true,
            ..TallyHandle::default()
        }
    }

    /// The counts to show in the results. Our own solvers have counts only if a library has failed.
    pub fn to_keep(&self) -> Option<Tally> {
        Some(self.get()).filter(|tally| !self.is_ours || tally.has_faults())
    }

    /// The counts so far.
    pub fn get(&self) -> Tally {
        self.tally
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Changes the counts.
    pub(crate) fn with(&self, change: impl FnOnce(&mut Tally)) {
        change(&mut self.tally.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts a fault, which `what` describes. A long description is shortened, because it may quote the output of a
    /// program.
    pub(crate) fn fault(
        &self,
        count: impl FnOnce(&mut Tally) -> &mut usize,
        what: impl FnOnce() -> String,
    ) {
        self.with(|tally| {
            *count(tally) += 1;
            tally.first_fault.get_or_insert_with(|| shortened(&what()));
        });
    }
}
