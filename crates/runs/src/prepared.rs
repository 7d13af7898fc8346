//! Writes a prepared trace and its virtual clusters in the formats that `gleaner simulate` reads.

use std::path::Path;

use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{Cluster, Job, Trace};
use gleaner_io::table::WriteTable;

/// Writes the jobs. Submission times are civil times if the trace has them, otherwise seconds.
///
/// # Errors
/// The extension is neither .csv nor .parquet, or the file cannot be written.
pub fn write_jobs(trace: &Trace, cluster: &Cluster, path: &Path) -> Result<()> {
    jobs(trace, cluster).write_file(path)
}

/// The jobs as a table.
pub fn jobs<'a>(trace: &'a Trace, cluster: &'a Cluster) -> Table<'a> {
    let text = |of: fn(&Job) -> &String| {
        Column::Texts(
            trace
                .jobs
                .iter()
                .map(|job| of(job).as_str().into())
                .collect(),
        )
    };
    let whole = |of: fn(&Job) -> i64| Column::Whole(trace.jobs.iter().map(of).collect());
    let vcs = Column::Names {
        names: cluster.vcs.iter().map(|vc| vc.name.as_str()).collect(),
        indices: trace.jobs.iter().map(|job| job.vc as u32).collect(),
    };
    let submit = match trace.origin {
        None => whole(|job| job.submit),
        Some(origin) => {
            let times = trace.jobs.iter();
            Column::EveryTime(times.map(|job| origin.plus_whole(job.submit)).collect())
        }
    };
    let cpus = trace.jobs.iter().map(|job| Some(job.cpus)).collect();
    Table {
        name: "jobs",
        columns: vec![
            ("job_id", text(|job| &job.id)),
            ("user", text(|job| &job.user)),
            ("vc", vcs),
            ("gpu_num", whole(|job| i64::from(job.gpus))),
            ("cpu_num", Column::Floats(cpus)),
            ("state", text(|job| &job.state)),
            ("submit_time", submit),
            ("duration", whole(|job| job.duration)),
        ],
    }
}

/// Writes the virtual clusters and their numbers of nodes.
///
/// # Errors
/// Same as [`write_jobs`].
pub fn write_cluster(cluster: &Cluster, path: &Path) -> Result<()> {
    let names = cluster.vcs.iter().map(|vc| vc.name.as_str().into());
    let nodes = cluster.vcs.iter().map(|vc| i64::from(vc.nodes));
    let table = Table {
        name: "vc_config",
        columns: vec![
            ("vc", Column::Texts(names.collect())),
            ("num", Column::Whole(nodes.collect())),
        ],
    };
    table.write_file(path)
}
