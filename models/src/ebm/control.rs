//! How a fit is watched and stopped from outside.

use std::sync::atomic::AtomicBool;

/// What a fit asks and tells while it runs.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set to stop: the fit then ends with [`FitError::Stopped`](super::FitError::Stopped), within
    /// some milliseconds for each 100,000 rows.
    pub stop: &'a AtomicBool,
    /// Told of work done, of the whole that [`Settings::work`](super::Settings::work) says: for
    /// each bag that has learnt the features, and again for each that has learnt the pairs.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

static NEVER: AtomicBool = AtomicBool::new(false);

impl Default for Control<'_> {
    /// Nobody watches, nobody stops.
    fn default() -> Self {
        Control {
            stop: &NEVER,
            progress: &|_| (),
        }
    }
}
