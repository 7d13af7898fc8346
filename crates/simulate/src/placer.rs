//! The interface that all placers implement.

use super::free::FreeGpus;
use gleaner_domain::results::schedule::Placement;

/// Chooses the GPUs that a job starts on.
pub trait Placer: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// Name of the placer in the file names of the original simulator.
    fn original_name(&self) -> &'static str {
        self.name()
    }

    /// Whether the placer may spread a job over more nodes than its number of GPUs requires.
    fn splits(&self) -> bool {
        true
    }

    /// Chooses `gpus` free GPUs for a job; `None` if the placer cannot place the whole job.
    ///
    /// The result depends only on the arguments. A job that does not fit must also be rejected when fewer GPUs are
    /// free.
    fn place(&self, free: &FreeGpus, gpus: u32) -> Option<Placement>;
}
