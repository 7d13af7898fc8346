//! Records whether this process has been asked to end.

use std::sync::atomic::{AtomicBool, Ordering};

static STOPPING: AtomicBool = AtomicBool::new(false);

/// Records that this process has been asked to end, so that all code that waits for a program stops waiting.
pub fn stop() {
    STOPPING.store(true, Ordering::SeqCst);
}

/// Whether this process has been asked to end. If so, code that waits for a program must stop waiting.
pub fn is_stopping() -> bool {
    STOPPING.load(Ordering::SeqCst)
}
