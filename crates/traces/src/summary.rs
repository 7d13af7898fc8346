//! Summarises for the user what was read from a trace.

use std::fmt;

use gleaner_domain::words::counted;
use gleaner_domain::{Clock, Cluster, Job, Utc};
use gleaner_logs::scheduler::LogCounts;

/// The summary of a trace that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Counts of lines that were read, used, left out or faulty.
    pub log_counts: LogCounts,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// First and last submission, in seconds: since 1970, or on the trace's own clock.
    pub span: (i64, i64),
    /// The clock that converts these seconds to civil times, if the trace has such times.
    clock: Option<Clock>,
    /// GPU-seconds of all jobs: GPUs multiplied by duration.
    pub gpu_seconds: u128,
    /// Number of virtual clusters, total number of their nodes, and number of GPUs per node.
    pub size: (usize, u64, u32),
}

impl Summary {
    pub(super) fn new(
        log_counts: LogCounts,
        notes: Vec<String>,
        cluster: &Cluster,
        jobs: &[Job],
        span: (i64, i64),
        clock: Option<Clock>,
    ) -> Self {
        let gpu_seconds =
            |job: &Job| u128::from(job.gpus) * u128::from(job.duration.unsigned_abs());
        let nodes = cluster.vcs.iter().map(|vc| u64::from(vc.nodes)).sum();
        Summary {
            log_counts,
            notes,
            span,
            clock,
            gpu_seconds: jobs.iter().map(gpu_seconds).sum(),
            size: (cluster.vcs.len(), nodes, cluster.gpus_per_node),
        }
    }

    /// A submission time as text.
    fn shown(&self, second: i64) -> String {
        match &self.clock {
            Some(clock) => clock.show(Utc::from_seconds(second)),
            None => format!("second {second}"),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (vcs, nodes, gpus) = self.size;
        writeln!(f, "{}", self.log_counts)?;
        let (nodes, gpus) = (counted(nodes, "node"), counted(gpus, "GPU"));
        writeln!(f, "clusters  {vcs}, of {nodes} of {gpus}")?;
        writeln!(f, "from      {}", self.shown(self.span.0))?;
        writeln!(f, "to        {}", self.shown(self.span.1))?;
        write!(f, "GPU time  {:.1} hours", self.gpu_seconds as f64 / 3600.0)
    }
}
