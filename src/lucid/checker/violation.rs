//! What can be wrong with a schedule.

use std::fmt;

/// One thing wrong with a schedule. Jobs are named by [`crate::domain::Job::id`], times
/// are seconds of the trace's clock.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Violation {
    /// Outcomes and jobs do not match.
    #[error("outcomes of {found} jobs, {expected} expected")]
    Jobs {
        /// Outcomes in the schedule.
        found: usize,
        /// Jobs it is for.
        expected: usize,
    },
    /// A run of a job that does not exist.
    #[error("run {run} is of job number {job}, which does not exist")]
    NoSuchJob {
        /// Index of the run.
        run: usize,
        /// Index of the job.
        job: usize,
    },
    /// A run that starts before the one listed before it.
    #[error("run {run} starts at second {from}, before the run listed before it")]
    RunOrder {
        /// Index of the run.
        run: usize,
        /// Second of its start.
        from: i64,
    },
    /// A run that takes no time.
    #[error("job {job}: the run from second {from} ends at second {until}, not after its start")]
    EmptyRun {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second of its end.
        until: i64,
    },
    /// A run with more or fewer GPUs than the job asks for.
    #[error("job {job}: its run from second {from} holds {found} GPUs, {expected} expected")]
    Gang {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// GPUs it holds.
        found: u64,
        /// GPUs it asks for.
        expected: u32,
    },
    /// A run on more nodes than the placer may use.
    #[error("job {job}: its run from second {from} is spread over {found} nodes, {most} would do")]
    Split {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Nodes it is on.
        found: usize,
        /// Most nodes it may be on.
        most: u32,
    },
    /// A slot that does not exist.
    #[error("job {job}: its run from second {from} is on node slot {slot}, which does not exist")]
    NoSuchSlot {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// The slot.
        slot: u32,
    },
    /// The same node twice in a run's placement.
    #[error("job {job}: its run from second {from} lists {place} twice")]
    SlotTwice {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// The node.
        place: NodePlace,
    },
    /// No GPU, or GPUs that the node does not have.
    #[error(
        "job {job}: its run from second {from} holds GPUs {gpus:#b} of {place}, \
         at least one and only the lowest {gpus_per_node} bits expected"
    )]
    Mask {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// The node.
        place: NodePlace,
        /// The GPUs held.
        gpus: u64,
        /// GPUs of a node.
        gpus_per_node: u32,
    },
    /// A run on a node that is not there all the time.
    #[error(
        "job {job}: its run from second {from} to {until} is on {place}, which is not there throughout"
    )]
    DeadNode {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second of its end.
        until: i64,
        /// The node.
        place: NodePlace,
    },
    /// The wrong number of nodes at the start.
    #[error("{found} nodes at the start, {expected} expected")]
    StartNodes {
        /// Nodes of the schedule that are there at the start.
        found: usize,
        /// Nodes of the virtual cluster.
        expected: u32,
    },
    /// A job that never runs.
    #[error("job {job}: never runs")]
    NoRun {
        /// The job.
        job: String,
    },
    /// Not exactly the last of a job's runs is marked as its last.
    #[error("job {job}: of its {runs} runs only the last should be marked so, {marked} are marked")]
    LastRun {
        /// The job.
        job: String,
        /// Its runs.
        runs: usize,
        /// Those marked as last.
        marked: usize,
    },
    /// A run that starts before the one before it has ended.
    #[error(
        "job {job}: runs again at second {from}, before its run until second {until} has ended"
    )]
    Overlap {
        /// The job.
        job: String,
        /// Second of the later run's start.
        from: i64,
        /// Second of the earlier run's end.
        until: i64,
    },
    /// A start before the arrival.
    #[error("job {job}: starts at second {start}, before its arrival at second {arrival}")]
    Early {
        /// The job.
        job: String,
        /// Second of the start.
        start: i64,
        /// Second of its submission, or of the simulation's start where that is later.
        arrival: i64,
    },
    /// An outcome that its runs contradict.
    #[error("job {job}: {field} is {found}, by its runs {expected}")]
    Outcome {
        /// The job.
        job: String,
        /// What of its outcome.
        field: &'static str,
        /// What the outcome says.
        found: i64,
        /// What its runs say.
        expected: i64,
    },
    /// Final nodes that do not hold the GPUs of the last run.
    #[error("job {job}: its outcome does not list the GPUs of its last run, from second {from}")]
    FinalNodes {
        /// The job.
        job: String,
        /// Second of the last run's start.
        from: i64,
    },
    /// Less or more service than was due.
    #[error("job {job}: got {found} s of service, {expected} s due")]
    Service {
        /// The job.
        job: String,
        /// Seconds at full speed that it got.
        found: f64,
        /// Seconds at full speed that were due.
        expected: f64,
    },
    /// Speeds that do not describe a run.
    #[error("job {job}: speed {speed} at second {time} of its run from second {from}: {why}")]
    Speed {
        /// The job.
        job: String,
        /// Second of the run's start.
        from: i64,
        /// Second of the change.
        time: i64,
        /// The speed.
        speed: f64,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A GPU that more jobs hold than may.
    #[error("job {job}, second {time}: takes GPU {gpu} of {place}, which {held} already")]
    Held {
        /// The job.
        job: String,
        /// Second of its start there.
        time: i64,
        /// The node.
        place: NodePlace,
        /// The GPU.
        gpu: u32,
        /// Who holds it.
        held: Held,
    },
    /// Two jobs that share some but not all of their GPUs.
    #[error(
        "job {job}, second {time}: shares GPU {gpu} of {place} with job {other}, but not all GPUs of both"
    )]
    Unequal {
        /// The job that came later.
        job: String,
        /// Second at which it came.
        time: i64,
        /// The node.
        place: NodePlace,
        /// A GPU that both hold.
        gpu: u32,
        /// The job that was there.
        other: String,
    },
    /// More GPUs held than there are.
    #[error("second {time}: {held} GPUs held, there are {gpus}")]
    Capacity {
        /// Second.
        time: i64,
        /// GPUs held.
        held: u64,
        /// GPUs that exist.
        gpus: u64,
    },
    /// Busy GPU-seconds that the runs contradict.
    #[error("{found} busy GPU-seconds, {expected} by the runs")]
    BusySeconds {
        /// What the schedule says.
        found: i64,
        /// What its runs say.
        expected: i64,
    },
    /// Samples that do not follow each other minute by minute.
    #[error("samples from second {first}, {count} minutes: {why}")]
    SampleTimes {
        /// Second of the first minute.
        first: i64,
        /// Minutes.
        count: u32,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A sample that runs and outcomes contradict.
    #[error("sample of second {time}: {field} is {found}, {expected} by runs and outcomes")]
    Sample {
        /// Second.
        time: i64,
        /// What of the sample.
        field: &'static str,
        /// What the sample says.
        found: i64,
        /// What runs and outcomes say.
        expected: i64,
    },
}

/// A node, by slot and by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePlace {
    /// Its slot in [`crate::lucid::schedule::Schedule::nodes`].
    pub slot: u32,
    /// The name it had at the end.
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

/// Jobs that hold a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held(pub Vec<String>);

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.0.len() == 1 { "holds" } else { "hold" };
        write!(f, "job {} {verb}", self.0.join(" and job "))
    }
}
