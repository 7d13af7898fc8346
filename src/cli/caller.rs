//! Who asks for a run: the terminal, or a program that uses this one as a library.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::{interrupt, remark};

/// Hears the remarks of a run, and can stop it.
pub trait Caller: Sync {
    /// Takes remarks, a sentence each.
    fn remark(&self, remarks: &[String]);

    /// Reports information that needs no action, in sentences. By default it is reported like remarks.
    fn inform(&self, information: &[String]) {
        self.remark(information);
    }

    /// The flag that stops the run in order once it is set. Runs ask for it when they begin to look at it.
    fn stop(&self) -> &Arc<AtomicBool>;

    /// Called at each event of a replay, on the thread that runs it.
    fn tick(&self) {}
}

/// The terminal.
pub struct Terminal;

impl Caller for Terminal {
    fn remark(&self, remarks: &[String]) {
        remark(remarks);
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        interrupt::flag()
    }
}
