//! Runs every combination of the settings in a plan, and shows progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gleaner::{Observer, Result, Sweep};

/// Prints the progress after each tenth of the runs.
#[derive(Default)]
struct Tenths {
    stop: Arc<AtomicBool>,
    shown: AtomicUsize,
}

impl Observer for Tenths {
    fn progress(&self, done: usize, total: usize) {
        let tenth = 10 * done / total.max(1);
        if self.shown.fetch_max(tenth, Ordering::Relaxed) < tenth {
            eprintln!("{tenth}0 %");
        }
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}

/// Runs the example.
pub fn main() -> Result<()> {
    let tenths = Tenths::default();
    let out = std::env::temp_dir().join("gleaner-example-sweep");
    let swept = Sweep::of("dataset/sweep.toml")
        .best("fairness_jain")
        .observer(&tenths)
        .run(out)?;
    println!("{}", swept.text);
    Ok(())
}
