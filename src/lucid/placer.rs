//! Placers: on which GPUs a job starts.

use super::free::FreeGpus;
use super::schedule::Placement;

/// Finds the GPUs that a job starts on.
pub trait Placer: Sync {
    /// Name on the command line.
    fn name(&self) -> &'static str;

    /// Name in the file names of the original.
    fn original_name(&self) -> &'static str {
        self.name()
    }

    /// Whether a job may be spread over more nodes than its GPUs need.
    fn splits(&self) -> bool {
        true
    }

    /// So many free GPUs, all at once, or `None` where they cannot be had.
    ///
    /// The answer depends on nothing else, and what does not fit does not fit with
    /// fewer GPUs free either.
    fn place(&self, free: &FreeGpus, gpus: u32) -> Option<Placement>;
}
