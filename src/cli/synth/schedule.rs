//! `gleaner synth slurm|pbs|swf`: generates scheduler logs with a known idle time.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use super::{generated, time};
use crate::cli::remark;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_inputs::write::events::EventWriter;
use gleaner_inputs::write::schedule::{ScheduleWriter, Scheduler, Target, names};
use gleaner_io::files::{self, Output};
use gleaner_synth::schedule::{ScheduleOptions, generate};

/// The scheduler whose log is generated.
#[derive(Debug, Subcommand)]
pub(super) enum What {
    /// Generate the jobs of a Slurm cluster, in the format of sacct.
    #[command(before_help = "Example:\n  \
        gleaner synth slurm --nodes 500 --days 30 -o jobs.txt --node-list nodes.txt \\\n      \
            --outages events.txt --truth truth.gev")]
    Slurm(SlurmArgs),
    /// Generate the accounting records of a PBS cluster.
    #[command(before_help = "Example:\n  gleaner synth pbs --nodes 500 --days 30 -o records.txt")]
    Pbs(ScheduleArgs),
    /// Generate a log in the Standard Workload Format.
    #[command(before_help = "Example:\n  gleaner synth swf --nodes 500 --days 30 -o log.swf")]
    Swf(ScheduleArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct SlurmArgs {
    #[command(flatten)]
    schedule: ScheduleArgs,
    /// Let nodes fail occasionally, and write their failures in the format of `sacctmgr -P list events`.
    #[arg(long, value_name = "FILE")]
    outages: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ScheduleArgs {
    /// Number of nodes.
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    nodes: u32,
    /// Span in days.
    #[arg(long, value_name = "DAYS", default_value_t = 30.0)]
    days: f64,
    /// Start of the log.
    #[arg(long, value_name = "TIME", default_value = "2026-01-01 00:00:00")]
    start: String,
    /// Approximate share of node-time that is idle.
    #[arg(long, value_name = "SHARE", default_value_t = 0.07)]
    idle_share: f64,
    /// Mean run time of a job in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 7200.0)]
    runtime: f64,
    /// Mean number of nodes of a job.
    #[arg(long, value_name = "COUNT", default_value_t = 4.0)]
    job_nodes: f64,
    /// Seed. The same seed gives the same log.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Also write the names of the nodes, as a list for `gleaner ingest --nodes`.
    #[arg(long, value_name = "FILE")]
    node_list: Option<PathBuf>,
    /// Also write the true log of idle nodes, which `gleaner ingest` must reproduce: .gev, .parquet or .csv.
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Log to write; - for stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// An option is out of range, or an output cannot be written.
pub(super) fn run(what: &What) -> Result<()> {
    match what {
        What::Slurm(args) => write(Scheduler::Slurm, &args.schedule, args.outages.as_deref()),
        What::Pbs(args) => write(Scheduler::Pbs, args, None),
        What::Swf(args) => write(Scheduler::Swf, args, None),
    }
}

fn write(scheduler: Scheduler, args: &ScheduleArgs, outages: Option<&Path>) -> Result<()> {
    const JOBS_PER_OUTAGE: u64 = 500;
    let start = time("--start", &args.start)?.0.div_euclid(1_000_000_000);
    let options = ScheduleOptions {
        nodes: args.nodes,
        days: args.days,
        start,
        idle_share: args.idle_share,
        runtime: args.runtime,
        job_nodes: args.job_nodes,
        jobs_per_outage: outages.map_or(0, |_| JOBS_PER_OUTAGE),
        seed: args.seed,
    };
    let span = options.span()?;
    let nodes = names(args.nodes);
    if let Some(path) = &args.node_list {
        let list = nodes.join("\n") + "\n";
        files::write_bytes(path, list.as_bytes())?;
    }
    let truth = args.truth.as_deref();
    let truth = truth.map(|path| EventWriter::create(path, &nodes));
    let truth = truth.transpose()?;
    let mut log_out = Output::create(&args.output)?;
    let mut outages_out = outages.map(Output::create).transpose()?;
    let log = Target {
        out: &mut log_out,
        path: args.output.clone(),
    };
    let outages = outages_out.as_mut().zip(outages).map(|(out, path)| Target {
        out,
        path: path.to_owned(),
    });
    let mut writer = ScheduleWriter::new(scheduler, nodes, log, outages, truth, span)?;
    generated(|observer| generate(&options, &mut writer, observer))?;
    let jobs = writer.jobs;
    writer.finish()?;
    log_out.finish()?;
    outages_out.map_or(Ok(()), Output::finish)?;
    remark(&[format!(
        "{}: {} on {}",
        args.output.display(),
        counted(jobs, "job"),
        counted(args.nodes, "node")
    )]);
    Ok(())
}
