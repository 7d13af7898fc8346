//! Policies choose the jobs that run next. They see the state and return decisions, which the engine carries out.

use super::view::View;
use gleaner_domain::inputs::Pair;
use gleaner_domain::results::schedule::Placement;

/// A scheduling policy for one virtual cluster.
///
/// Methods identify a job by its index in the virtual cluster's list of jobs, which is in the order in which the jobs
/// join the queue. In every second in which something happens, the engine first reports ends and arrivals. It then
/// opens a round and asks for decisions, one by one, until the policy returns `None`.
pub trait Policy: Send {
    /// Called when a job has joined the queue.
    fn submitted(&mut self, job: usize, view: &View<'_>);

    /// Called when a job has started because of a decision of this policy.
    fn started(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// Called when a job has been preempted because of a decision of this policy and is back in the
    /// queue.
    fn preempted(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// Called when a job has ended.
    fn ended(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// Called when a job whose partner has ended is back at full speed and counts as alone again.
    fn restored(&mut self, job: usize, view: &View<'_>) {
        let _ = (job, view);
    }

    /// Called when a round of decisions begins.
    fn open(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// Returns the next decision of the round, or `None` to end the round. The view shows the
    /// state after all earlier decisions.
    fn next(&mut self, view: &View<'_>) -> Option<Decision>;

    /// Returns the next second, after the view's current second, in which the policy may make a decision although no
    /// event occurs. An event is the arrival or end of a job, or the addition or removal of a node. Returns `None` if
    /// there is no such second.
    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        let _ = view;
        None
    }

    /// The priority by which a job is or was sorted, for the result tables; `None` if the policy did
    /// not assign a priority.
    fn priority(&self, job: usize) -> Option<f64> {
        let _ = job;
        None
    }
}

/// A decision of a policy.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// Starts a waiting job on as many free GPUs as it requested.
    Start {
        /// Index of the job.
        job: usize,
        /// The free GPUs that it gets.
        placement: Placement,
    },
    /// Starts a waiting job on the GPUs of a job that runs alone.
    Share {
        /// Index of the waiting job.
        job: usize,
        /// Index of the job that runs alone.
        with: usize,
        /// Speeds and load of both jobs; the waiting job comes first.
        pair: Pair,
    },
    /// Checkpoints a running job and sends it back to the queue.
    Preempt {
        /// Index of the job.
        job: usize,
    },
}

/// The reasons why a decision cannot be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The decision starts a job that is not in the queue.
    #[error("the job is not waiting")]
    NotWaiting,
    /// The decision preempts a job that holds no GPUs, or starts a job on the GPUs of such a job.
    #[error("the job is not running")]
    NotRunning,
    /// The decision preempts a job that shares its GPUs, or starts a third job on those GPUs.
    #[error("the job already shares its GPUs")]
    NotAlone,
    /// The decision preempts a job in the second in which the job started, before the job can have done
    /// any work.
    #[error("the job started in this second; preempt it in a later second")]
    JustStarted,
}

/// Cost of a checkpoint and the subsequent restart of a job with `gpus` GPUs, in seconds of work. The values are those
/// of the original simulator. They are below the 62 s that the authors of Tiresias measured on average.
pub fn checkpoint_overhead(gpus: u32) -> i64 {
    if gpus <= 8 { 40 } else { 60 }
}
