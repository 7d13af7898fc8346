//! Policies: who runs next. They see the state and return decisions; only the engine
//! carries them out.

use super::inputs::Pair;
use super::schedule::Placement;
use super::view::View;

/// A scheduling policy for one virtual cluster.
///
/// Jobs are indices into the virtual cluster's jobs, which are in submission order. In
/// every second in which something happens the engine first tells of ends and arrivals,
/// then opens a round and asks for decisions, one by one, until there is none.
pub trait Policy: Send {
    /// A job has joined the queue.
    fn submitted(&mut self, job: usize, view: &View<'_>);

    /// A job has started, by a decision of this policy.
    fn started(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// A job has been preempted, by a decision of this policy, and is back in the queue.
    fn preempted(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// A job has ended.
    fn ended(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// A job that shared its GPUs is back at full speed and counts as alone again.
    fn restored(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// A round of decisions begins.
    fn open(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// The next decision of the round; the view shows all earlier ones carried out.
    fn next(&mut self, view: &View<'_>) -> Option<Decision>;

    /// The next second, after the view's, at which the policy may decide something
    /// though no job arrives or ends and no node comes or goes.
    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        let _ = view;
        None
    }

    /// What a job is or was sorted by, for the tables.
    fn priority(&self, job: usize) -> Option<f64> {
        let _ = job;
        None
    }
}

/// A decision of a policy.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Starts a waiting job on free GPUs, as many as it asked for.
    Start {
        /// The job.
        job: usize,
        /// The GPUs.
        placement: Placement,
    },
    /// Starts a waiting job on the GPUs of one that runs alone.
    Share {
        /// The job.
        job: usize,
        /// The one that runs.
        with: usize,
        /// What becomes of both, the new one first.
        pair: Pair,
    },
    /// Checkpoints a running job and sends it back to the queue.
    Preempt {
        /// The job.
        job: usize,
    },
}

/// What a checkpoint and the restart after it cost a job of so many GPUs, in seconds
/// of work. The original's, below the 62 s that Tiresias measured on average.
pub fn checkpoint_overhead(gpus: u32) -> i64 {
    if gpus <= 8 { 40 } else { 60 }
}
