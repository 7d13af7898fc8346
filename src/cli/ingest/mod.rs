//! `gleaner ingest`: converts a scheduler's log to an event log of idle nodes, or a GPU cluster's trace to the jobs of
//! a simulation.

use std::fmt;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{
    Arg, ArgAction, ArgGroup, ArgMatches, Args as ClapArgs, Command, FromArgMatches, Subcommand,
    value_parser,
};

use super::print;
use super::terminal::Terminal;
use crate::ingest::{FORMATS, Ingest, IngestFormat, Made};
use gleaner_domain::error::Result;

/// Read logs of batch schedulers and traces of GPU clusters.
///
/// Makes an event log of idle nodes from a scheduler's log, or a table of jobs from a GPU cluster's
/// trace.
///
/// A node is idle while no job runs on it and it is not down, drained or reserved. Several logs of
/// any length are accepted, plain or compressed with gzip or Zstandard; - is stdin.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  gleaner ingest slurm jobs.txt -o log.gev", after_help = help())]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

/// The text after the options: the commands that read logs and traces, that create the logs of Slurm and polls, and
/// that use the results.
fn help() -> String {
    let read = |name| IngestFormat::named(name).map_or("", |format| format.example);
    format!(
        "\
Event logs of January 2026:
  Slurm   sacct -a -X -P -D -S 2026-01-01 -E 2026-02-01 \\
            -o JobIDRaw,State,Submit,Start,End,NNodes,NodeList > jobs.txt
          scontrol show nodes > nodes.txt                         (or sinfo -N)
          sacctmgr -P list events Start=2026-01-01 End=2026-02-01 \\
            format=Cluster,NodeName,TimeStart,TimeEnd,State,Reason > events.txt
          {slurm}
  PBS     {pbs}
  Cobalt  {cobalt}
  DJC     {djc}
  SWF     {swf}
  polls   {sinfo}
  spot    {spot}
  public  {table}
          (gleaner ingest table --list names machines whose jobs are public)

Do not use sacct -T, which truncates start and end times. The option -D shows every run of a requeued job.

Without access to accounting, poll sinfo (docs/PROVIDERS.md has a line for cron):
  while sleep 15; do sinfo -h -a -o \"$(date +%s) %T %N\"; done >> sinfo.log

Jobs and their virtual clusters:
  Slurm   sacct -a -X -P -D -S 2026-01-01 -E 2026-02-01 \\
            -o JobIDRaw,User,Account,Partition,State,Submit,Start,End,NNodes,NodeList,AllocTRES \\
            > jobs.txt
          gleaner ingest slurm jobs.txt --jobs jobs.csv            (and -o log.gev)
  Philly  {philly}       (or -o idle.gev)
  PAI     {pai}
  Batsim  {batsim}
  Helios  {helios}
  Gavel   {gavel}

Use the results:
  gleaner replay --events log.gev --tasks tasks.toml --t-fwd 120 --out run
  gleaner simulate --trace jobs.csv --cluster vc_config.csv --policy fifo,srtf --out run",
        slurm = read("slurm"),
        pbs = read("pbs"),
        cobalt = read("cobalt"),
        djc = read("djc"),
        swf = read("swf"),
        sinfo = read("sinfo"),
        spot = read("spot"),
        table = read("table"),
        philly = read("philly"),
        pai = read("pai"),
        batsim = read("batsim"),
        helios = read("helios"),
        gavel = read("gavel"),
    )
}

/// The settings of a format, and the files to read.
struct What {
    settings: Box<dyn Ingest>,
    files: Vec<PathBuf>,
}

impl fmt::Debug for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("What")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Subcommand for What {
    fn augment_subcommands(command: Command) -> Command {
        FORMATS
            .iter()
            .map(subcommand)
            .fold(command, Command::subcommand)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        IngestFormat::named(name).is_some()
    }
}

impl FromArgMatches for What {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = matches.subcommand();
        let chosen = chosen.and_then(|(name, matches)| Some((IngestFormat::named(name)?, matches)));
        let (format, matches) =
            chosen.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let files = matches.get_many(FILES).into_iter().flatten();
        Ok(What {
            settings: (format.arguments.read)(matches)?,
            files: files.cloned().collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Name of the argument for the files.
const FILES: &str = "files";

/// Name of a flag that lists the supported data sets instead of reading files.
const LIST: &str = "list";

/// The subcommand of a format.
fn subcommand(format: &IngestFormat) -> Command {
    let files = Arg::new(FILES)
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .num_args(1..)
        .action(ArgAction::Append)
        .help(match format.made {
            Made::Events | Made::EventsAndJobs(_) => "Logs, in any order; - for stdin",
            Made::Jobs(_) => {
                "Files of the trace, plain or compressed with gzip or Zstandard; - for stdin"
            }
        });
    let settings = (format.settings)();
    let files = if settings.iter().any(|setting| setting.name == LIST) {
        files.required_unless_present(LIST)
    } else {
        files.required(true)
    };
    let command = Command::new(format.name)
        .about(format.about)
        .before_help(format!("Example:\n  {}", format.example))
        .arg(files);
    let command = (format.arguments.augment)(command);
    match format.made {
        // Either output may be left out, but not both.
        Made::EventsAndJobs(_) => {
            let outputs = ArgGroup::new("outputs").required(true).multiple(true);
            command
                .group(outputs.args(["output", "jobs"]))
                .after_help(help())
        }
        Made::Events | Made::Jobs(_) => command,
    }
}

/// Runs the subcommand.
///
/// # Errors
/// A log is unreadable or has no usable content, or the output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    let What { settings, files } = &args.what;
    if let Some(list) = settings.listing() {
        return print(&format!("{list}\n"));
    }
    settings.ingest(files, &Terminal::default())
}
