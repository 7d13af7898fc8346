//! Progress reports of a fit, and a way to stop it from outside.

use std::sync::atomic::AtomicBool;

/// Controls a fit while it runs.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set this flag to stop the fit. It then ends with
    /// [`FitError::Stopped`](super::FitError::Stopped), within some milliseconds for each 100,000
    /// rows.
    pub stop: &'a AtomicBool,
    /// Called with an amount of work that is done; [`Settings::work`](super::Settings::work) is the
    /// most that the amounts can add up to. It is called for each bag that has learnt the features,
    /// and again for each bag that has learnt the pairs.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Control<'_> {
    /// Reports nothing and never stops the fit.
    fn default() -> Self {
        Control {
            stop: &NEVER,
            progress: &|_| (),
        }
    }
}
