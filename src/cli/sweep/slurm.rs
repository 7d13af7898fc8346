//! Options of sweeps on Slurm.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use gleaner_domain::error::{Error, Result};
use gleaner_sweep::cluster::slurm::{Call, SlurmOptions};
use serde::Serialize;

/// Default number of times that lost runs are resubmitted.
const RETRIES: u32 = 3;

/// Options for `--slurm`, and hidden options for the jobs that it submits.
#[derive(Debug, ClapArgs, Serialize)]
pub struct SlurmArgs {
    /// Return as soon as the jobs are submitted. Another job collects the results once these jobs have ended.
    #[arg(long, requires = "slurm", help_heading = "Slurm")]
    detach: bool,
    /// Partition of the jobs.
    #[arg(long, value_name = "NAME", requires = "slurm", help_heading = "Slurm")]
    partition: Option<String>,
    /// Account of the jobs.
    #[arg(long, value_name = "NAME", requires = "slurm", help_heading = "Slurm")]
    account: Option<String>,
    /// Time limit of a task in the format of sbatch, such as 2:00:00. A task starts no further runs in the last two
    /// minutes.
    #[arg(long, value_name = "TIME", requires = "slurm", help_heading = "Slurm")]
    time: Option<String>,
    /// Memory of a task in the format of sbatch, such as 4G.
    #[arg(long, value_name = "SIZE", requires = "slurm", help_heading = "Slurm")]
    mem: Option<String>,
    /// Number of cores of a task. A task executes this many runs concurrently.
    #[arg(long, value_name = "COUNT", requires = "slurm", help_heading = "Slurm",
          value_parser = clap::value_parser!(u32).range(1..))]
    cpus: Option<u32>,
    /// Maximum number of concurrent tasks.
    #[arg(long, value_name = "COUNT", requires = "slurm", help_heading = "Slurm",
          value_parser = clap::value_parser!(u32).range(1..))]
    array_limit: Option<u32>,
    /// Maximum number of tasks in total [default: 100]. Each task executes many runs.
    #[arg(long, value_name = "COUNT", requires = "slurm", help_heading = "Slurm")]
    parts: Option<std::num::NonZeroUsize>,
    /// Number of times that runs are resubmitted if their task was killed or timed out, or their node failed.
    #[arg(long, value_name = "COUNT", requires = "slurm", help_heading = "Slurm", default_value_t = RETRIES)]
    retries: u32,
    /// Minimum time between two calls to squeue, in seconds. The interval gradually grows to a minute.
    #[arg(long, value_name = "SECONDS", requires = "slurm", help_heading = "Slurm", default_value_t = 10.0,
          value_parser = interval)]
    interval: f64,
    /// Another sbatch option, such as --sbatch-option=--qos=low. May be repeated.
    #[arg(
        long = "sbatch-option",
        value_name = "OPTION",
        requires = "slurm",
        help_heading = "Slurm",
        allow_hyphen_values = true
    )]
    sbatch_options: Vec<String>,
    /// The batch to which a job belongs.
    #[arg(long, hide = true)]
    pub(super) batch: Option<String>,
    /// The file with the assignment of runs to parts.
    #[arg(long, hide = true, requires = "part")]
    pub(super) dealt: Option<PathBuf>,
}

fn interval(text: &str) -> std::result::Result<f64, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected a number of seconds from 0.1 to 3600".to_owned())
}

impl SlurmArgs {
    /// Whether to return once the jobs are submitted.
    pub(super) fn detaches(&self) -> bool {
        self.detach
    }

    /// Minimum interval between two queries to the queue, in seconds.
    pub(super) fn interval(&self) -> f64 {
        self.interval
    }

    /// The options for submitting jobs.
    pub(super) fn options(&self) -> SlurmOptions {
        SlurmOptions {
            partition: self.partition.clone(),
            account: self.account.clone(),
            time: self.time.clone(),
            mem: self.mem.clone(),
            cpus: self.cpus,
            array_limit: self.array_limit,
            others: self.sbatch_options.clone(),
            parts: self.parts.map(std::num::NonZeroUsize::get),
            retries: self.retries,
        }
    }
}

/// The program, folder and arguments with which jobs call gleaner.
pub(super) fn call(args: &super::Args, out: &Path) -> Result<Call> {
    let here = |error| Error::io("find", ".", error);
    let mut collecting = Vec::new();
    if let Some(best) = &args.way.best {
        collecting.extend(["--best".to_owned(), best.clone()]);
    }
    if args.strict {
        collecting.push("--strict".to_owned());
    }
    Ok(Call {
        program: std::env::current_exe().map_err(here)?,
        folder: std::env::current_dir().map_err(here)?,
        plan: args.plan.clone(),
        out: out.to_owned(),
        cut: args.way.replication.words(),
        collecting,
    })
}
