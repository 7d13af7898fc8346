//! What became of a trace.

use std::fmt;

use crate::domain::{Cluster, Job, Time};
use crate::ingest::scheduler::Tally;

/// What became of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was read, used, left out and odd.
    pub tally: Tally,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Seconds of the first and the last submission.
    pub span: (i64, i64),
    /// What is added to them to tell them as civil times, where the trace does.
    offset: Option<i64>,
    /// GPU-seconds of all jobs.
    pub gpu_seconds: u128,
    /// Virtual clusters, their nodes, and the GPUs of each.
    pub size: (usize, u64, u32),
}

impl Summary {
    pub(super) fn new(
        tally: Tally,
        notes: Vec<String>,
        cluster: &Cluster,
        jobs: &[Job],
        span: (i64, i64),
        offset: Option<i64>,
    ) -> Self {
        let gpu_seconds =
            |job: &Job| u128::from(job.gpus) * u128::from(job.duration.unsigned_abs());
        let nodes = cluster.vcs.iter().map(|vc| u64::from(vc.nodes)).sum();
        Summary {
            tally,
            notes,
            span,
            offset,
            gpu_seconds: jobs.iter().map(gpu_seconds).sum(),
            size: (cluster.vcs.len(), nodes, cluster.gpus_per_node),
        }
    }

    fn shown(&self, second: i64) -> String {
        match self.offset {
            Some(offset) => Time::from_seconds(second + offset).to_string(),
            None => format!("second {second}"),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (vcs, nodes, gpus) = self.size;
        writeln!(f, "{}", self.tally)?;
        writeln!(f, "clusters  {vcs}, of {nodes} nodes of {gpus} GPUs")?;
        writeln!(f, "from      {}", self.shown(self.span.0))?;
        writeln!(f, "to        {}", self.shown(self.span.1))?;
        write!(f, "GPU time  {:.1} hours", self.gpu_seconds as f64 / 3600.0)
    }
}
