//! `gleaner ingest`: a scheduler's own log to an event log of idle nodes, and a GPU
//! cluster's trace to the jobs of a simulation.

use std::path::PathBuf;

use clap::{ArgGroup, Args as ClapArgs, Subcommand};

use super::terminal::Terminal;
use crate::ingest::{
    BatsimSettings, CobaltSettings, DjcSettings, GavelSettings, HeliosSettings, Ingest,
    PaiSettings, PbsSettings, PhillySettings, SlurmSettings, SwfSettings,
};
use gleaner_domain::error::Result;

/// Make an event log of idle nodes from a scheduler's log, or a table of jobs from a GPU
/// cluster's trace.
///
/// A node is idle while no job runs on it and it is not down, drained or reserved. There may be
/// several logs, of any length, plain or compressed with gzip or Zstandard; - is stdin.
#[derive(Debug, ClapArgs)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

const HELP: &str = "\
Event logs of January 2026:
  Slurm   sacct -a -X -P -D -S 2026-01-01 -E 2026-02-01 \\
            -o JobIDRaw,State,Submit,Start,End,NNodes,NodeList > jobs.txt
          scontrol show nodes > nodes.txt                         (or sinfo -N)
          sacctmgr -P list events Start=2026-01-01 End=2026-02-01 \\
            format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason > events.txt
          gleaner ingest slurm jobs.txt --nodes nodes.txt --events events.txt -o log.gev
  PBS     gleaner ingest pbs $PBS_HOME/server_priv/accounting/202601?? -o log.gev
  Cobalt  gleaner ingest cobalt /var/log/pbs/202601?? -o log.gev
  DJC     gleaner ingest djc ANL-ALCF-DJC-THETA_20200101_20201231.csv.gz -o log.gev
  SWF     gleaner ingest swf SDSC-SP2-1998-4.2-cln.swf.gz --cores-per-node 1 -o log.gev

Do not give sacct -T, which cuts times off. Its -D shows every run of a job that was requeued.

Jobs and their virtual clusters:
  Slurm   sacct -a -X -P -D -S 2026-01-01 -E 2026-02-01 \\
            -o JobIDRaw,User,Account,Partition,State,Submit,Start,End,NNodes,NodeList,AllocTRES \\
            > jobs.txt
          gleaner ingest slurm jobs.txt --jobs jobs.csv            (and -o log.gev)
  Philly  gleaner ingest philly cluster_job_log -o jobs.csv       (or -o idle.gev)
  PAI     gleaner ingest pai pai_job_table.csv pai_task_table.csv -o jobs.csv
  Batsim  gleaner ingest batsim workload.json -o jobs.csv
  Helios  gleaner ingest helios cluster_log.csv -o jobs.csv
  Gavel   gleaner ingest gavel max_min_fairness.trace \\
            --throughputs simulation_throughputs.json -o jobs.csv

What to do with them:
  gleaner replay --events log.gev --tasks tasks.toml --t-fwd 120 --out run
  gleaner simulate --trace jobs.csv --cluster vc_config.csv --policy fifo,srtf --out run";

#[derive(Debug, Subcommand)]
enum What {
    /// Read the table of jobs that sacct -a -X -P -D prints, of Slurm.
    #[command(after_help = HELP)]
    #[command(group = ArgGroup::new("outputs").required(true).multiple(true).args(["output", "jobs"]))]
    Slurm(Log<SlurmSettings>),
    /// Read accounting records of PBS Professional, OpenPBS or Torque.
    Pbs(Log<PbsSettings>),
    /// Read accounting records of Cobalt, including nodes that go down and up (ND, NU).
    Cobalt(Log<CobaltSettings>),
    /// Read job records that ALCF publishes, as CSV.
    Djc(Log<DjcSettings>),
    /// Read a log in the Standard Workload Format 2.2.
    Swf(Log<SwfSettings>),
    /// Read Microsoft's trace of Philly, cluster_job_log: its jobs, or with -o NAME.gev when its
    /// machines were idle.
    Philly(Trace<PhillySettings>),
    /// Read Alibaba's PAI trace of 2020: pai_job_table.csv and pai_task_table.csv, in any order.
    Pai(Trace<PaiSettings>),
    /// Read a workload of Batsim, JSON. Each of its resources counts as a node with one GPU.
    Batsim(Trace<BatsimSettings>),
    /// Read SenseTime's trace of Helios, cluster_log.csv.
    Helios(Trace<HeliosSettings>),
    /// Read .trace files of Gavel, in which the work of jobs is a number of steps.
    Gavel(Trace<GavelSettings>),
}

#[derive(Debug, ClapArgs)]
struct Log<S: ClapArgs> {
    /// Logs, in any order; - for stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    settings: S,
}

#[derive(Debug, ClapArgs)]
struct Trace<S: ClapArgs> {
    /// Files of the trace, plain or compressed with gzip or Zstandard; - for stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    settings: S,
}

/// Runs the subcommand.
///
/// # Errors
/// Unreadable logs, logs of which nothing is of use, or an output that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let (settings, files): (&dyn Ingest, _) = match &args.what {
        What::Slurm(args) => (&args.settings, &args.files),
        What::Pbs(args) => (&args.settings, &args.files),
        What::Cobalt(args) => (&args.settings, &args.files),
        What::Djc(args) => (&args.settings, &args.files),
        What::Swf(args) => (&args.settings, &args.files),
        What::Philly(args) => (&args.settings, &args.files),
        What::Pai(args) => (&args.settings, &args.files),
        What::Batsim(args) => (&args.settings, &args.files),
        What::Helios(args) => (&args.settings, &args.files),
        What::Gavel(args) => (&args.settings, &args.files),
    };
    settings.ingest(files, &Terminal::default())
}
