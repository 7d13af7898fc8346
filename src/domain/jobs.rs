//! Job traces of GPU clusters.

use super::time::Time;

/// A trace of jobs, in submission order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// The jobs, by ascending [`Job::submit`]; of equal ones the earlier in the file first.
    pub jobs: Vec<Job>,
    /// The distinct workloads that the jobs' [`Job::workload`] indexes.
    pub workloads: Vec<Workload>,
    /// The civil time of second 0, where the trace had civil times.
    pub origin: Option<Time>,
    /// What is known of each of the workloads before its jobs run; empty where all are measured.
    pub known: Vec<Known>,
}

/// What is known of a workload before its jobs run: what policies and models go by.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Known {
    /// What its jobs do to their GPUs: it was measured.
    #[default]
    Measured,
    /// What is expected of them.
    Predicted(Usage),
    /// Nothing.
    Nothing,
}

impl Trace {
    /// What a job of this trace is taken to do to its GPUs; `None` where nothing is known of its
    /// workload.
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
    /// Its name, unique in the trace.
    pub id: String,
    /// Who submitted it; empty where the trace does not say.
    pub user: String,
    /// Index of its virtual cluster.
    pub vc: usize,
    /// What it was called; empty where the trace does not say.
    pub name: String,
    /// GPUs, at least 1.
    pub gpus: u32,
    /// CPU cores asked for; simulated by no policy.
    pub cpus: f64,
    /// How the real job ended, such as `COMPLETED`.
    pub state: String,
    /// Second of its submission.
    pub submit: i64,
    /// Seconds it runs alone at full speed, at least 1.
    pub duration: i64,
    /// What it trains, as an index of [`Trace::workloads`]; `None` where the trace does not say.
    pub workload: Option<usize>,
    /// What it does to its GPUs, running alone; zeros where the trace does not say.
    pub usage: Usage,
}

#[cfg(test)]
impl Job {
    /// A job without a name, of the first virtual cluster: one GPU for a second. Tests set what
    /// they look at.
    pub(crate) fn plain() -> Self {
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

/// What a job trains: the key of profiles and of measured pairs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Workload {
    /// Model, such as `ResNet50`.
    pub model: String,
    /// Dataset, such as `ImageNet`.
    pub dataset: String,
    /// Samples a batch.
    pub batch_size: u32,
    /// Automatic mixed precision.
    pub amp: bool,
}

/// What a job does to each of its GPUs.
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
