//! Records whether this process was asked to end.

use std::sync::atomic::{AtomicBool, Ordering};

static STOPPING: AtomicBool = AtomicBool::new(false);

/// Records that this process was asked to end, so that all code that waits for a program stops waiting.
pub fn stop() {
    STOPPING.store(true, Ordering::SeqCst);
}

/// Whether this process was asked to end. Code that waits for a program must then stop waiting.
pub fn is_stopping() -> bool {
    STOPPING.load(Ordering::SeqCst)
}
