//! Observers of runs. Every function of Gleaner that can run for more than a second takes an [`Observer`],
//! which receives remarks and progress and can stop the run.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicBool;
//!
//! use gleaner_observer::Observer;
//!
//! #[derive(Default)]
//! struct Printer(Arc<AtomicBool>);
//!
//! impl Observer for Printer {
//!     fn remark(&self, remarks: &[String]) {
//!         remarks.iter().for_each(|remark| eprintln!("{remark}"));
//!     }
//!
//!     fn stop(&self) -> &Arc<AtomicBool> {
//!         &self.0
//!     }
//! }
//!
//! let printer = Printer::default();
//! printer.remark(&["3 of 20 tasks are submitted after the log's end".to_owned()]);
//! assert!(!printer.is_stopped());
//! ```

mod parts;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

pub use parts::{Part, Parts};

/// Receives the remarks and the progress of a run, and can stop it.
///
/// The run can call these methods from any of its threads.
pub trait Observer: Sync {
    /// Receives remarks, one sentence each, as soon as they are known. A remark is worth the user's
    /// attention, but is not an error.
    fn remark(&self, remarks: &[String]) {
        let _ = remarks;
    }

    /// Receives information that requires no action, one sentence each. By default, information is
    /// passed to [`Observer::remark`].
    fn inform(&self, information: &[String]) {
        self.remark(information);
    }

    /// Receives progress: `done` of `total` steps of the run are complete. A run with several phases counts
    /// the steps of each phase from 0.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// Receives a few words to show beside the progress, such as the error of the last training epoch.
    /// The new words replace the previous words.
    fn detail(&self, words: &str) {
        let _ = words;
    }

    /// The flag that stops the run once it is set. If the run supports partial results, they are kept.
    fn stop(&self) -> &Arc<AtomicBool>;

    /// Whether the flag that stops the run is set.
    fn is_stopped(&self) -> bool {
        self.stop().load(Ordering::Relaxed)
    }
}

/// Ignores remarks and progress, and never stops a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn stop(&self) -> &Arc<AtomicBool> {
        static NEVER: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
        &NEVER
    }
}

/// Ignores remarks and progress, and stops a run once the flag is set.
impl Observer for Arc<AtomicBool> {
    fn stop(&self) -> &Arc<AtomicBool> {
        self
    }
}
