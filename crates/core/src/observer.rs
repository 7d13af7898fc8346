//! Whoever watches a run: takes its remarks, follows its progress, and can stop it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// Watches a run, and can stop it. Everything that may take longer than a second takes an observer.
///
/// Methods may be called on any thread of the run.
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
    /// Takes remarks, one sentence each, as soon as they are known.
    fn remark(&self, remarks: &[String]) {
        let _ = remarks;
    }

    /// Takes information that requires no action, one sentence each. By default it is treated as a remark.
    fn inform(&self, information: &[String]) {
        self.remark(information);
    }

    /// Hears that `done` of `total` steps of the run are complete.
    fn progress(&self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// The flag that stops the run once it is set. What was computed until then is kept where a run can
    /// be incomplete.
    fn stop(&self) -> &Arc<AtomicBool>;

    /// Whether the run must stop.
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
