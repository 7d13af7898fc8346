//! Fewest GPUs first: the profiler's order.

use std::collections::BTreeSet;

use crate::policy::{Decision, Policy};
use crate::view::View;

/// Starts the jobs with the fewest GPUs first. The first job that does not fit blocks all later jobs.
#[derive(Debug, Default)]
pub struct LeastGpus {
    /// Waiting jobs by number of GPUs, then by submission.
    queue: BTreeSet<(u32, usize)>,
}

impl Policy for LeastGpus {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.queue.insert((view.job(job).gpus, job));
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        let &(gpus, job) = self.queue.first()?;
        let placement = view.place(gpus)?;
        self.queue.pop_first();
        Some(Decision::Start { job, placement })
    }
}
