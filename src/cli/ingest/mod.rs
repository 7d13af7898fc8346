//! `gleaner ingest`: a scheduler's own log to an event log of idle nodes, and a GPU
//! cluster's trace to the jobs of a simulation.

mod slurm;
mod trace;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Subcommand};

use super::terminal::Terminal;
use gleaner_core::Observer;
use gleaner_core::error::{Result, check_stop};
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::EventWriter;
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{Format, Options, Summary};

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
    Slurm(slurm::Args),
    /// Read accounting records of PBS Professional, OpenPBS or Torque.
    Pbs(LogArgs),
    /// Read accounting records of Cobalt, including nodes that go down and up (ND, NU).
    Cobalt(LogArgs),
    /// Read job records that ALCF publishes, as CSV.
    Djc(CountArgs),
    /// Read a log in the Standard Workload Format 2.2.
    Swf(SwfArgs),
    #[command(flatten)]
    Trace(trace::What),
}

#[derive(Debug, ClapArgs)]
struct SwfArgs {
    #[command(flatten)]
    count: CountArgs,
    /// Processors per node [default: MaxProcs divided by MaxNodes, both from the header].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    cores_per_node: Option<u32>,
}

#[derive(Debug, ClapArgs)]
struct CountArgs {
    #[command(flatten)]
    log: LogArgs,
    /// Number of nodes of the machine, if jobs state only how many nodes they used [default: the
    /// number in the header, or the most nodes ever used at once].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    node_count: Option<u32>,
}

#[derive(Debug, ClapArgs)]
struct LogArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Event log to write: a name that ends in .gev, .parquet or .csv.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Debug, ClapArgs)]
struct InputArgs {
    /// Logs, in any order; - for stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Nodes of the machine: a list such as n[001-128], or a file. The file contains such lists, or the
    /// output of `scontrol show nodes` or `sinfo -N` [default: the nodes that the logs name].
    #[arg(long, value_name = "LIST|FILE")]
    nodes: Option<PathBuf>,
    /// When nodes were down, drained or reserved: the output of `sacctmgr -P list events`.
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Start of the event log, such as 2026-01-01T00:00:00 [default: the time from which the log
    /// is complete].
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// End of the event log [default: the time until which the log is complete].
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Time zone of the log, such as America/Chicago or -06:00 [default: what the log says or
    /// implies; otherwise local times stay as they are, and seconds since 1970 are shown in UTC].
    #[arg(long, value_name = "ZONE")]
    timezone: Option<String>,
    /// Stop at the first line that cannot be read or that contradicts itself.
    #[arg(long)]
    strict: bool,
}

impl InputArgs {
    fn options(&self, format: Format) -> Options {
        Options {
            nodes: self.nodes.clone(),
            events: self.events.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            timezone: self.timezone.clone(),
            strict: self.strict,
            ..Options::new(format)
        }
    }
}

impl CountArgs {
    fn options(&self, format: Format) -> Options {
        Options {
            node_count: self.node_count,
            ..self.log.input.options(format)
        }
    }
}

impl LogArgs {
    fn write(&self, options: &Options, observer: &dyn Observer) -> Result<()> {
        write_events(&self.input.files, options, &self.output, observer)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Unreadable logs, logs of which nothing is of use, or an output that cannot be written.
pub fn run(args: &Args) -> Result<()> {
    ingest(args, &Terminal::default())
}

/// Reads and writes for a caller.
///
/// # Errors
/// As [`run`].
pub fn ingest(args: &Args, observer: &dyn Observer) -> Result<()> {
    match &args.what {
        What::Slurm(args) => args.run(observer),
        What::Pbs(log) => log.write(&log.input.options(Format::Pbs), observer),
        What::Cobalt(log) => log.write(&log.input.options(Format::Cobalt), observer),
        What::Djc(args) => args.log.write(&args.options(Format::Djc), observer),
        What::Swf(args) => {
            let options = Options {
                cores_per_node: args.cores_per_node,
                ..args.count.options(Format::Swf)
            };
            args.count.log.write(&options, observer)
        }
        What::Trace(what) => trace::run(what, observer),
    }
}

/// Writes the event log from a scheduler's logs, and reports on their content.
fn write_events(
    files: &[PathBuf],
    options: &Options,
    output: &Path,
    observer: &dyn Observer,
) -> Result<()> {
    ReadyLog::of(files, options, output, observer)?.place(observer)
}

/// A complete event log that is not yet in place.
struct ReadyLog<'a> {
    writer: EventWriter,
    summary: Summary,
    output: &'a Path,
}

impl<'a> ReadyLog<'a> {
    /// Reads the scheduler's logs and writes the event log.
    fn of(
        files: &[PathBuf],
        options: &Options,
        output: &'a Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        events::Format::of(output)?;
        let holds = scheduler::read(files, options, observer)?;
        let mut writer = EventWriter::create_on(output, holds.nodes(), holds.clock())?;
        let summary = holds.sweep(|time, changes| {
            check_stop(observer)?;
            writer.push(time, changes)
        })?;
        Ok(ReadyLog {
            writer,
            summary,
            output,
        })
    }

    /// Puts the event log in place, and reports on the content of the scheduler's logs.
    fn place(self, observer: &dyn Observer) -> Result<()> {
        check_stop(observer)?;
        self.writer.finish()?;
        observer.remark(&self.summary.notes);
        observer.inform(&[format!("wrote {}\n{}", self.output.display(), self.summary)]);
        Ok(())
    }
}
