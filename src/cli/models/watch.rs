//! Progress of training and evaluation.

use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::observer::Parts;

use crate::cli::terminal::Terminal;

/// Number of steps of the progress bar. A fit reports far more steps than a bar can show.
const STEPS: usize = 100;

/// Runs a function that fits models. Its progress is shown on the terminal, and a signal stops it.
pub fn watched<T>(run: impl FnOnce(&dyn Observer) -> Result<T>) -> Result<T> {
    let terminal = Terminal::default();
    let whole = Parts::new(&terminal, STEPS);
    let result = run(&whole.part(STEPS));
    terminal.clear();
    if result.is_err() {
        check_stop(&terminal)?;
    }
    result
}
