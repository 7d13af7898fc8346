//! Simulates one virtual cluster, event by event.
//!
//! Within a second, the order is: jobs end, jobs arrive, the policy decides, nodes are added or removed, and the state
//! is sampled. This is the order of the original simulator (Lucid's), which steps through every second.

use super::placer::Placer;
use super::policy::{Decision, Policy, Refusal};
use super::scaling::Scaling;
use super::world::World;
use gleaner_domain::Observer;
use gleaner_domain::jobs::Job;
use gleaner_domain::results::schedule::Schedule;
use gleaner_domain::words::counted;

/// A virtual cluster and its jobs, as input of a simulation.
pub struct Setting<'a> {
    /// The jobs, in the order in which they join the queue. The nodes have enough GPUs for each job.
    pub jobs: &'a [&'a Job],
    /// Second at which each job joins the queue: the second of its submission, or a later second if the job is profiled
    /// first.
    pub entries: &'a [i64],
    /// Work of each job in seconds at full speed, at least 1 and at most the job's duration.
    pub work: &'a [i64],
    /// Seconds that each job has already waited in another queue.
    pub queued: &'a [i64],
    /// Number of nodes at the start.
    pub nodes: u32,
    /// Number of GPUs per node.
    pub gpus_per_node: u32,
    /// Second at which the simulation starts. Jobs with an earlier second in `entries` arrive at this second.
    pub start: i64,
    /// Seconds for which a job holds its GPUs after its work is done.
    pub notice: i64,
    /// Chooses the GPUs of jobs.
    pub placer: &'a dyn Placer,
    /// Whether the survivor of two jobs that share GPUs always returns to full speed when the other job ends. The
    /// original simulator gives full speed to the job that was placed first, even if that job is the one that ends.
    pub corrected: bool,
}

/// Jobs that wait forever.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "after second {second}, nothing runs and {} forever; the first is {job}, which requests {} from a cluster of {}",
    match waiting {
        1 => "1 job waits".to_owned(),
        jobs => format!("{jobs} jobs wait"),
    },
    counted(*gpus, "GPU"),
    counted(*nodes, "node"),
)]
pub struct Stuck {
    /// Second of the last event.
    pub second: i64,
    /// Number of waiting jobs.
    pub waiting: usize,
    /// Id of the first waiting job.
    pub job: String,
    /// Number of GPUs that the first waiting job requests.
    pub gpus: u32,
    /// Number of nodes.
    pub nodes: u32,
}

/// A decision of the policy that cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("second {second}: the policy's decision about job {job} was rejected: {refusal}")]
pub struct Refused {
    /// Second of the decision.
    pub second: i64,
    /// Id of the job.
    pub job: String,
    /// The reason for the rejection.
    pub refusal: Refusal,
}

/// The reasons why a simulation does not finish.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Some jobs would wait forever.
    #[error(transparent)]
    Stuck(#[from] Stuck),
    /// The policy makes a decision that cannot be carried out.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The observer stopped the simulation.
    #[error("the simulation was stopped")]
    Stopped,
}

/// Simulates until all jobs have ended.
///
/// # Errors
/// Returns an error if a job can never start, a decision cannot be carried out, or the simulation is
/// stopped.
pub fn run(
    setting: &Setting<'_>,
    policy: &mut dyn Policy,
    scaling: &mut dyn Scaling,
    observer: &dyn Observer,
) -> Result<Schedule, Failure> {
    let world = World::new(setting);
    let mut engine = Engine {
        world,
        policy,
        scaling,
        again: None,
    };
    // Nodes can be added or removed in the first second even if no job arrives in it.
    engine.advance_to(setting.start)?;
    while !engine.world.is_done() {
        if observer.is_stopped() {
            return Err(Failure::Stopped);
        }
        let Some(second) = engine.next_second() else {
            return Err(engine.world.stuck().into());
        };
        engine.advance_to(second)?;
    }
    let jobs = 0..setting.jobs.len();
    let priorities = jobs.map(|job| engine.policy.priority(job)).collect();
    Ok(engine.world.finish(priorities))
}

struct Engine<'a, 'p> {
    world: World<'a>,
    policy: &'p mut dyn Policy,
    scaling: &'p mut dyn Scaling,
    /// The next second if a node was added or removed in the current second, which makes another round of decisions
    /// due. Otherwise `None`.
    again: Option<i64>,
}

impl Engine<'_, '_> {
    fn next_second(&mut self) -> Option<i64> {
        let arrival = self.world.next_arrival();
        let end = self.world.next_end();
        let view = self.world.view();
        // Without waiting or running jobs there is nothing to decide.
        let wake = if self.world.is_empty() {
            None
        } else {
            self.policy.wake(&view)
        };
        let scaling = self.scaling.wake(&view);
        let later = view.now() + 1;
        let awake = [wake, scaling, self.again].into_iter().flatten();
        let awake = awake.map(|second| second.max(later)).min();
        [arrival, end, awake].into_iter().flatten().min()
    }

    /// Advances to `second`, and carries out everything that happens in it.
    fn advance_to(&mut self, second: i64) -> Result<(), Refused> {
        self.world.advance_to(second);
        self.again = None;
        self.end_jobs();
        while let Some(job) = self.world.take_arrival() {
            self.policy.submitted(job, &self.world.view());
        }
        self.decide()?;
        self.scale();
        Ok(())
    }

    fn end_jobs(&mut self) {
        while let Some(job) = self.world.due_end() {
            let restored = self.world.end(job);
            self.policy.ended(job, &self.world.view());
            if let Some(partner) = restored {
                self.policy.restored(partner, &self.world.view());
            }
        }
    }

    /// Carries out the decisions of this second. A job that has just started cannot be preempted, so
    /// each job is preempted at most once per second. The loop therefore ends.
    fn decide(&mut self) -> Result<(), Refused> {
        self.policy.open(&self.world.view());
        while let Some(decision) = self.policy.next(&self.world.view()) {
            self.world.view().require(&decision)?;
            match decision {
                Decision::Start { job, placement } => {
                    self.world.start(job, placement);
                    self.policy.started(job, &self.world.view());
                }
                Decision::Share { job, with, pair } => {
                    self.world.share(job, with, pair);
                    self.policy.started(job, &self.world.view());
                }
                Decision::Preempt { job } => {
                    self.world.preempt(job);
                    self.policy.preempted(job, &self.world.view());
                }
            }
        }
        Ok(())
    }

    fn scale(&mut self) {
        let step = self.scaling.step(&self.world.view());
        if step != 0 && self.world.scale(step) {
            self.again = Some(self.world.view().now() + 1);
        }
    }
}
