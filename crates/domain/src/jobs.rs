//! Job traces of GPU clusters.

use super::Local;

/// A trace of jobs, in submission order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// The jobs, by ascending [`Job::submit`], then in the order of the file.
    pub jobs: Vec<Job>,
    /// The distinct workloads. [`Job::workload`] is an index into this list.
    pub workloads: Vec<Workload>,
    /// The civil time of second 0; `None` if the trace has no civil times.
    pub origin: Option<Local>,
    /// The information about each workload that is available before its jobs run; empty if all
    /// workloads are measured.
    pub known: Vec<Known>,
}

/// The information about a workload that is available before its jobs run. Policies and models use
/// only this information.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Known {
    /// The load of the workload's jobs was measured, and is [`Job::usage`].
    #[default]
    Measured,
    /// The load of the workload's jobs was predicted, and may differ from [`Job::usage`].
    Predicted(Usage),
    /// Nothing is known.
    Nothing,
}

impl Trace {
    /// The seconds of the first and the last submission; `None` if there are no jobs.
    pub fn submissions(&self) -> Option<(i64, i64)> {
        let ends = self.jobs.first().zip(self.jobs.last());
        ends.map(|(first, last)| (first.submit, last.submit))
    }

    /// The load of a job of this trace on each of its GPUs, as far as it is known before the job
    /// runs. `None` if nothing is known about the job's workload.
    pub fn known(&self, job: &Job) -> Option<Usage> {
        let known = job.workload.and_then(|workload| self.known.get(workload));
        match known {
            None | Some(Known::Measured) => Some(job.usage),
            Some(Known::Predicted(usage)) => Some(*usage),
            Some(Known::Nothing) => None,
        }
    }
}

/// A job that holds a fixed number of GPUs from its start to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The job's id, unique in the trace.
    pub id: String,
    /// The user who submitted the job; empty if unknown.
    pub user: String,
    /// Index of the job's virtual cluster in the cluster.
    pub vc: usize,
    /// The name that the user gave the job; empty if unknown.
    pub name: String,
    /// Number of GPUs, at least 1.
    pub gpus: u32,
    /// Number of requested CPU cores. Simulations do not allocate CPU cores.
    pub cpus: f64,
    /// State in which the real job ended, such as `COMPLETED`.
    pub state: String,
    /// Time of the job's submission, in seconds on the trace's clock.
    pub submit: i64,
    /// Run time in seconds if the job runs alone at full speed; at least 1.
    pub duration: i64,
    /// Index of the job's workload in [`Trace::workloads`]; `None` if unknown.
    pub workload: Option<usize>,
    /// The job's load on each of its GPUs when it runs alone; zeros if unknown.
    pub usage: Usage,
}

/// An unnamed job of the first virtual cluster that needs one GPU for one second.
impl Default for Job {
    fn default() -> Self {
        Job {
            id: String::new(),
            user: String::new(),
            vc: 0,
            name: String::new(),
            gpus: 1,
            cpus: 0.0,
            state: String::new(),
            submit: 0,
            duration: 1,
            workload: None,
            usage: Usage::default(),
        }
    }
}

/// The training that a job runs. Profiles and measured pairs are keyed by workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Workload {
    /// Model, such as `ResNet50`.
    pub model: String,
    /// Dataset, such as `ImageNet`.
    pub dataset: String,
    /// Samples per batch.
    pub batch_size: u32,
    /// Whether automatic mixed precision is used.
    pub amp: bool,
}

/// The load of a job on each of its GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// Samples per second.
    pub speed: f64,
    /// Compute utilisation, in percent.
    pub gpu_util: f64,
    /// Memory bandwidth utilisation, in percent.
    pub gmem_util: f64,
    /// Memory held, in MB.
    pub gmem: f64,
}

impl std::fmt::Display for Workload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let amp = if self.amp { ", mixed precision" } else { "" };
        let Workload {
            model,
            dataset,
            batch_size,
            ..
        } = self;
        write!(f, "{model} on {dataset}, batch size {batch_size}{amp}")
    }
}
