//! Fits that show how far they are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use gleaner_learn::ebm::Control;

use crate::cli::progress::Progress;

/// Steps of the bar.
const STEPS: u64 = 100;

/// Runs what fits models, with a bar for its `work` on a terminal.
pub fn watched<T>(work: u64, run: impl FnOnce(Control<'_>) -> T) -> T {
    let (progress, done) = (Mutex::new(Progress::new(false)), AtomicU64::new(0));
    let told = |more: u64| {
        let done = done.fetch_add(more, Ordering::Relaxed).saturating_add(more);
        if let Ok(mut progress) = progress.lock() {
            progress.update(steps(done, work), STEPS as usize);
        }
    };
    let result = run(Control {
        progress: &told,
        ..Control::default()
    });
    if let Ok(progress) = progress.into_inner() {
        progress.finish();
    }
    result
}

/// The steps that are done of [`STEPS`].
fn steps(done: u64, work: u64) -> usize {
    let share = u128::from(done) * u128::from(STEPS) / u128::from(work.max(1));
    share.min(u128::from(STEPS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_shares_of_the_work() {
        assert_eq!(
            [(0, 7), (1, 3), (2, 2), (9, 2), (0, 0), (u64::MAX, u64::MAX)]
                .map(|(done, work)| steps(done, work)),
            [0, 33, 100, 100, 0, 100]
        );
    }
}
