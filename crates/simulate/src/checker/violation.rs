//! The faults that a schedule can have.

use std::fmt;

/// A fault in a schedule. Jobs are identified by [`gleaner_domain::Job::id`], and times are seconds
/// on the trace's clock.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Violation {
    /// A schedule whose number of outcomes differs from the number of jobs.
    #[error("found {found} job outcomes, expected {expected}")]
    Jobs {
        /// Number of outcomes in the schedule.
        found: usize,
        /// Number of jobs to schedule.
        expected: usize,
    },
    /// A run of a job that does not exist.
    #[error("run {run} refers to job index {job}, which does not exist")]
    NoSuchJob {
        /// Index of the run.
        run: usize,
        /// Index of the job.
        job: usize,
    },
    /// A run that starts before the previous run in the list.
    #[error("run {run} starts at second {from}, before the previous run in the list")]
    RunOrder {
        /// Index of the run.
        run: usize,
        /// Second of its start.
        from: i64,
    },
    /// A run whose end is not later than its start.
    #[error(
        "job {job}: its run from second {from} ends at second {until}, expected a later second"
    )]
    EmptyRun {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second of its end.
        until: i64,
    },
    /// A run with more or fewer GPUs than the job requests.
    #[error("job {job}: its run from second {from} holds {found} GPUs, expected {expected}")]
    Gang {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Number of GPUs that the run holds.
        found: u64,
        /// Number of GPUs that the job requests.
        expected: u32,
    },
    /// A run on more nodes than the placer may use.
    #[error(
        "job {job}: its run from second {from} is spread over {found} nodes, but at most {most} are allowed"
    )]
    Split {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Number of nodes that the run uses.
        found: usize,
        /// Maximum number of nodes that the run may use.
        most: u32,
    },
    /// A run on a slot that does not exist.
    #[error("job {job}: its run from second {from} is on node slot {slot}, which does not exist")]
    NoSuchSlot {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// The slot that does not exist.
        slot: u32,
    },
    /// A run whose placement lists the same node twice.
    #[error("job {job}: its run from second {from} lists {place} twice")]
    SlotTwice {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Slot and name of the node.
        place: NodePlace,
    },
    /// A run that holds none of a node's GPUs, or GPUs that the node does not have.
    #[error(
        "job {job}: its run from second {from} holds GPUs {gpus:#b} of {place}, \
         expected at least one GPU, and only GPUs among the lowest {gpus_per_node} bits"
    )]
    Mask {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Slot and name of the node.
        place: NodePlace,
        /// The GPUs held; bit `i` represents GPU `i`.
        gpus: u64,
        /// Number of GPUs per node.
        gpus_per_node: u32,
    },
    /// A run on a node that is added after the run's start or removed before its end.
    #[error(
        "job {job}: its run from second {from} to {until} is on {place}, which does not exist for the whole run"
    )]
    DeadNode {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second of its end.
        until: i64,
        /// Slot and name of the node.
        place: NodePlace,
    },
    /// A schedule with the wrong number of nodes at the start.
    #[error("found {found} nodes at the start, expected {expected}")]
    StartNodes {
        /// Number of the schedule's nodes that exist at the start.
        found: usize,
        /// Number of nodes that the virtual cluster has at the start.
        expected: u32,
    },
    /// A job that never runs.
    #[error("job {job}: never runs")]
    NoRun {
        /// Id of the job.
        job: String,
    },
    /// A job whose last run is not marked as last, or that has another run marked as last.
    #[error(
        "job {job}: only the last of its {runs} runs should be marked as last, but {marked} are"
    )]
    LastRun {
        /// Id of the job.
        job: String,
        /// Number of its runs.
        runs: usize,
        /// Number of its runs that are marked as last.
        marked: usize,
    },
    /// A run that starts before the job's previous run has ended.
    #[error(
        "job {job}: runs again at second {from}, before its previous run ends at second {until}"
    )]
    Overlap {
        /// Id of the job.
        job: String,
        /// Second of the later run's start.
        from: i64,
        /// Second of the earlier run's end.
        until: i64,
    },
    /// A job that starts before it arrives.
    #[error("job {job}: starts at second {start}, before its arrival at second {arrival}")]
    Early {
        /// Id of the job.
        job: String,
        /// Second of the start.
        start: i64,
        /// Second at which the job joins the queue, or at which the simulation starts if that is later.
        arrival: i64,
    },
    /// An outcome that contradicts the job's runs.
    #[error("job {job}: {field} is {found}, but {expected} according to its runs")]
    Outcome {
        /// Id of the job.
        job: String,
        /// Name of the outcome's field.
        field: &'static str,
        /// Value in the outcome.
        found: i64,
        /// Value that follows from the runs.
        expected: i64,
    },
    /// An outcome whose nodes do not match the GPUs of the job's last run.
    #[error("job {job}: its outcome does not list the GPUs of its last run, from second {from}")]
    FinalNodes {
        /// Id of the job.
        job: String,
        /// Second of the last run's start.
        from: i64,
    },
    /// A job that got less or more service than was due.
    #[error("job {job}: got {found} s of service, expected {expected} s")]
    Service {
        /// Id of the job.
        job: String,
        /// Work that it got, in seconds at full speed.
        found: f64,
        /// Work that was due, in seconds at full speed.
        expected: f64,
    },
    /// An invalid speed of a run.
    #[error("job {job}: speed {speed} at second {time} of its run from second {from}: {why}")]
    Speed {
        /// Id of the job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second at which the run gets this speed.
        time: i64,
        /// The invalid speed.
        speed: f64,
        /// The reason why the speed is invalid.
        why: &'static str,
    },
    /// A job that takes a GPU that already has the maximum number of jobs.
    #[error("job {job}, second {time}: takes GPU {gpu} of {place}, which {held} already")]
    Held {
        /// Id of the job.
        job: String,
        /// Second at which the job takes this GPU.
        time: i64,
        /// Slot and name of the node.
        place: NodePlace,
        /// Index of the GPU on its node.
        gpu: u32,
        /// The jobs that already hold the GPU.
        held: Held,
    },
    /// Two jobs that share some but not all of their GPUs.
    #[error(
        "job {job}, second {time}: shares GPU {gpu} of {place} with job {other}, \
         but the two jobs do not hold the same GPUs"
    )]
    Unequal {
        /// Id of the job that took the GPU later.
        job: String,
        /// Second at which this job took the GPU.
        time: i64,
        /// Slot and name of the node.
        place: NodePlace,
        /// Index of a GPU that both jobs hold.
        gpu: u32,
        /// Id of the job that already held the GPU.
        other: String,
    },
    /// A second in which jobs hold more GPUs than exist.
    #[error("second {time}: {held} GPUs held, but only {gpus} exist")]
    Capacity {
        /// Second at which the GPUs are held.
        time: i64,
        /// Number of GPUs held.
        held: u64,
        /// Number of GPUs of all nodes.
        gpus: u64,
    },
    /// A number of busy GPU-seconds that contradicts the runs.
    #[error("found {found} busy GPU-seconds, expected {expected} according to the runs")]
    BusySeconds {
        /// Value in the schedule.
        found: i64,
        /// Value that follows from the runs.
        expected: i64,
    },
    /// Samples that do not cover consecutive minutes.
    #[error("samples from second {first}, {count} minutes: {why}")]
    SampleTimes {
        /// Second of the first minute.
        first: i64,
        /// Number of minutes.
        count: u32,
        /// The reason why the samples are invalid.
        why: &'static str,
    },
    /// A sample that contradicts the runs and outcomes.
    #[error(
        "sample at second {time}: {field} is {found}, but {expected} according to the runs and outcomes"
    )]
    Sample {
        /// Second of the sample.
        time: i64,
        /// Name of the field of the sample.
        field: &'static str,
        /// Value in the sample.
        found: i64,
        /// Value that follows from runs and outcomes.
        expected: i64,
    },
}

/// A node, identified by its slot and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePlace {
    /// The node's slot in [`gleaner_domain::results::schedule::Schedule::nodes`].
    pub slot: u32,
    /// The node's name at the end of the simulation.
    pub name: u32,
}

impl fmt::Display for NodePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.name)?;
        if self.slot != self.name {
            write!(f, " (slot {})", self.slot)?;
        }
        Ok(())
    }
}

/// Ids of the jobs that hold a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held(pub Vec<String>);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.0.len() == 1 { "holds" } else { "hold" };
        write!(f, "job {} {verb}", self.0.join(" and job "))
    }
}
