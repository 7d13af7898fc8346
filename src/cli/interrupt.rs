//! Ctrl-C: the first asks for an orderly stop, the second ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

static STOP: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C and SIGTERM from now on; either sets the flag.
///
/// # Errors
/// When the system refuses the handler.
pub fn flag() -> Result<&'static AtomicBool> {
    let caught = ctrlc::try_set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    match caught {
        // A command with two phases asks twice.
        Ok(()) | Err(ctrlc::Error::MultipleHandlers) => Ok(&STOP),
        Err(e) => Err(Error::Run(format!("cannot catch Ctrl-C: {e}"))),
    }
}
