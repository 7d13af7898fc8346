//! Observers of runs: they receive remarks and progress, and can stop a run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Receives the remarks and the progress of a run, and can stop it. Every function that may run for more than
/// a second takes an observer.
///
/// The run may call these methods on any of its threads.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// use gleaner_core::observer::Observer;
///
/// #[derive(Default)]
/// struct Printer {
///     stop: Arc<AtomicBool>,
/// }
///
/// impl Observer for Printer {
///     fn remark(&self, remarks: &[String]) {
///         remarks.iter().for_each(|remark| eprintln!("{remark}"));
///     }
///
///     fn stop(&self) -> &Arc<AtomicBool> {
///         &self.stop
///     }
/// }
///
/// let printer = Printer::default();
/// printer.remark(&["3 of 20 tasks are submitted after the log's end".to_owned()]);
/// assert!(!printer.is_stopped());
/// ```
pub trait Observer: Sync {
    /// Receives remarks, one sentence each, as soon as they are known. A remark is worth the user's
    /// attention, but is not an error.
    fn remark(&self, remarks: &[String]) {
        let _ = remarks;
    }

    /// Receives information that requires no action, one sentence each. By default, it is passed to
    /// [`Observer::remark`].
    fn inform(&self, information: &[String]) {
        self.remark(information);
    }

    /// Receives progress: `done` of `total` steps of the run are complete.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// The flag that stops the run once it is set. If the run can be incomplete, its partial results are
    /// kept.
    fn stop(&self) -> &Arc<AtomicBool>;

    /// Whether the flag to stop is set.
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
