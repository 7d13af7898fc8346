//! The progress of a run whose parts report separately.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Observer;

/// Sums the progress of the parts of a run. The parts can run at the same time.
///
/// ```
/// use gleaner_observer::{Observer, Parts, Unobserved};
///
/// let parts = Parts::new(&Unobserved, 30);
/// let (short, long) = (parts.part(10), parts.part(20));
/// short.progress(1, 2);
/// long.progress(3, 4);
/// assert_eq!(parts.done(), 5 + 15);
/// ```
pub struct Parts<'o> {
    observer: &'o dyn Observer,
    done: AtomicUsize,
    total: usize,
}

impl<'o> Parts<'o> {
    /// Creates a sum that starts at 0 and is reported to `observer` when it grows. All parts together have `total`
    /// steps.
    pub fn new(observer: &'o dyn Observer, total: usize) -> Self {
        Parts {
            observer,
            done: AtomicUsize::new(0),
            total,
        }
    }

    /// Creates the observer of a part, which counts as `steps` steps of the total.
    pub fn part(&self, steps: usize) -> Part<'_> {
        Part {
            parts: self,
            steps,
            done: AtomicUsize::new(0),
        }
    }

    /// The observer of the whole run.
    pub fn observer(&self) -> &'o dyn Observer {
        self.observer
    }

    /// Number of completed steps of all parts.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Reports that another `steps` steps are complete.
    pub fn add(&self, steps: usize) {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        self.observer.progress(done.min(self.total), self.total);
    }
}

/// Observes one part of a run. This observer passes everything on to the observer of the whole run. The part
/// counts its progress in steps of its own, which are converted to steps of the run.
pub struct Part<'p> {
    parts: &'p Parts<'p>,
    /// Number of steps of the run that this part counts as.
    steps: usize,
    /// Number of these steps that are complete.
    done: AtomicUsize,
}

impl Part<'_> {
    /// Reports that the whole part is complete. This call is needed because a part can end before it has reported its
    /// last step.
    pub fn complete(&self) {
        self.progress(1, 1);
    }
}

impl Observer for Part<'_> {
    fn remark(&self, remarks: &[String]) {
        self.parts.observer.remark(remarks);
    }

    fn inform(&self, information: &[String]) {
        self.parts.observer.inform(information);
    }

    fn progress(&self, done: usize, total: usize) {
        let share = self.steps as u128 * done.min(total) as u128 / total.max(1) as u128;
        // Reports from several threads may arrive out of order, and a second phase counts from 0 again.
        // Therefore, only a report that exceeds all previous reports adds to the progress.
        let now = share as usize;
        let before = self.done.fetch_max(now, Ordering::Relaxed);
        if now > before {
            self.parts.add(now - before);
        }
    }

    fn detail(&self, words: &str) {
        self.parts.observer.detail(words);
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        self.parts.observer.stop()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Recorded {
        reports: Mutex<Vec<(usize, usize)>>,
        stop: Arc<AtomicBool>,
    }

    impl Observer for Recorded {
        fn progress(&self, done: usize, total: usize) {
            self.reports.lock().unwrap().push((done, total));
        }

        fn stop(&self) -> &Arc<AtomicBool> {
            &self.stop
        }
    }

    #[test]
    fn progress_of_parts_is_converted_and_summed() {
        let observer = Recorded::default();
        let parts = Parts::new(&observer, 30);
        let (short, long) = (parts.part(10), parts.part(20));
        short.progress(1, 4);
        long.progress(1, 2);
        // A second phase counts from 0, and adds nothing until it gets further than the first phase.
        long.progress(0, 8);
        long.progress(6, 8);
        short.complete();
        short.complete();
        long.complete();
        let expected = [(2, 30), (12, 30), (17, 30), (25, 30), (30, 30)];
        assert_eq!(*observer.reports.lock().unwrap(), expected);
    }

    #[test]
    fn parts_are_stopped_with_the_run() {
        let flag = Arc::new(AtomicBool::new(false));
        let parts = Parts::new(&flag, 1);
        let part = parts.part(1);
        assert!(!part.is_stopped());
        flag.store(true, Ordering::Relaxed);
        assert!(part.is_stopped());
    }
}
