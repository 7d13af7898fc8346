//! `gleaner profile`: measures the speed and resource use of workloads alone and in pairs, or their scaling.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::json;

use super::terminal::Terminal;
use super::{print, remark};
use gleaner_document::{Block, Fact, text};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::Table;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::words::{counted, duration};
use gleaner_inputs::write::tasks;
use gleaner_io::SourceId;
use gleaner_profile::plan::{self, Plan, SamplerKind, Shipped};
use gleaner_profile::sampler::Reading;
use gleaner_profile::tables::Tables;
use gleaner_profile::{Machine, Options, Session, scaling};
use gleaner_runs::run::{End, RunDir};
use gleaner_store::Store;

/// Measure the speed and resource use of workloads alone and paired.
///
/// The workloads of a pair run on the same devices. The plan is a TOML file that lists commands.
/// docs/PROFILING.md describes the plan and the output that a command must print. `gleaner simulate
/// --profiles … --colocate …` and `gleaner train packing` read the tables. Each measurement is
/// saved as soon as it is complete. If the command is started again, it makes only the measurements
/// that are missing or failed. If a measurement fails, the other measurements are still made, and
/// the exit code is 1.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner profile dataset/profile.toml --dry-run\n  \
    gleaner profile dataset/profile.toml -o measured\n  \
    gleaner profile --plan lucid --dry-run\n  \
    gleaner profile --scaling dataset/profile.toml -o tasks.toml")]
pub struct Args {
    /// The plan.
    #[arg(value_name = "PLAN", required_unless_present = "shipped")]
    plan: Option<PathBuf>,
    /// Built-in plan to use instead of a file.
    #[arg(long = "plan", value_name = "NAME", conflicts_with = "plan")]
    shipped: Option<Shipped>,
    /// The folder of the workloads that come with Gleaner [default: workloads, or else the folder
    /// in which they were installed].
    #[arg(long, value_name = "DIR", requires = "shipped")]
    workloads: Option<PathBuf>,
    /// The devices to measure, GPUs or cores; overrides the sampler of the plan.
    #[arg(long)]
    sampler: Option<SamplerKind>,
    /// Directory for the tables and a file for each measurement; with --scaling, the task file to write: a name that
    /// ends in .toml or .json.
    #[arg(short, long, value_name = "PATH", required_unless_present = "dry_run")]
    out: Option<PathBuf>,
    /// Measure each workload with 1, 2, 4, … processes, and write tasks for `gleaner replay`.
    #[arg(long)]
    scaling: bool,
    /// Measure even if the devices or cores are in use.
    #[arg(long)]
    busy_ok: bool,
    /// Path of the NVML library [default: the library of the driver].
    #[arg(long, value_name = "FILE")]
    nvml_library: Option<PathBuf>,
    /// Read and check the plan, and list the measurements without making them.
    #[arg(long, conflicts_with = "scaling")]
    dry_run: bool,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

impl Args {
    /// The path of the plan.
    fn path(&self) -> Result<PathBuf> {
        match (&self.plan, self.shipped) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(shipped)) => {
                let program = std::env::current_exe().and_then(|path| path.canonicalize());
                shipped.find(self.workloads.as_deref(), program.ok().as_deref())
            }
            (None, None) => Err(Error::Usage("no plan: give PLAN or --plan".to_owned())),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The usage is wrong, the plan is invalid, a device is missing or in use, or a measurement fails. An interrupt is also
/// an error; without `--scaling`, it is reported after all finished measurements have been saved.
pub fn run(args: &Args) -> Result<()> {
    let clock = Instant::now();
    let loaded = plan::read_for(&args.path()?, args.sampler)?;
    let mut session = Session::new(&loaded.value)?;
    let out = match &args.out {
        Some(out) if !args.dry_run => out,
        out => return list(&mut session, out.as_deref()),
    };
    if args.scaling {
        return scale(args, &loaded.value, out);
    }
    let directory = RunDir::open(out, "profile", args)?;
    let sources = [&loaded.sources, session.sources()].concat();
    let read = clock.elapsed().as_secs_f64();
    Profiling {
        args,
        store: Store::at(directory.path()),
        directory,
        sources,
        read,
    }
    .run(session, &Terminal::new(args.quiet))
}

/// Lists the measurements, and marks those already in `out` as done.
fn list(session: &mut Session<'_>, out: Option<&Path>) -> Result<()> {
    let plan = session.plan();
    if let Some(out) = out {
        session.load(&Store::at(out))?;
    }
    let name = |index: usize| plan.named(plan.configs[index]).to_string();
    let (mut text, mut all, mut missing) = (String::new(), 0, 0);
    for (entry, made) in session.measurements() {
        let beside = entry
            .second
            .map(|second| format!(" beside {}", name(second)));
        let done = if made.is_some() { "done" } else { "" };
        text += &format!(
            "{done:4}  {}{}, repeat {}\n",
            name(entry.first),
            beside.unwrap_or_default(),
            entry.repeat + 1
        );
        all += 1;
        missing += usize::from(made.is_none());
    }
    let seconds = plan.settings.seconds * missing as f64;
    remark(&[format!(
        "{}, of which {missing} are missing; the missing measurements take at least {}, plus warm-up",
        counted(all, "measurement"),
        duration(seconds)
    )]);
    print(&text)
}

/// Opens the devices of this machine, and takes a reading while the devices are idle. Returns
/// `None` after an interrupt.
fn machine(args: &Args, plan: &Plan, terminal: &Terminal) -> Result<Option<(Machine, Reading)>> {
    let options = Options {
        busy_ok: args.busy_ok,
        nvml_library: args.nvml_library.clone(),
    };
    let mut machine = Machine::open(&plan.settings, &options)?;
    let Some(idle) = machine.idle(&plan.settings, options.busy_ok, terminal)? else {
        return Ok(None);
    };
    remark(&idle.notes);
    Ok(Some((machine, idle)))
}

/// A session whose measurements are written to a directory.
struct Profiling<'a> {
    args: &'a Args,
    store: Store,
    directory: RunDir,
    sources: Vec<SourceId>,
    /// Seconds spent reading the plan.
    read: f64,
}

impl Profiling<'_> {
    fn run(self, mut session: Session<'_>, terminal: &Terminal) -> Result<()> {
        let clock = Instant::now();
        let found_done = session.load(&self.store)?;
        let mut measured_by = None;
        let mut is_over = true;
        if !session.is_complete() {
            let opened = machine(self.args, session.plan(), terminal)?;
            self.directory.begin(&self.sources)?;
            is_over = match opened {
                None => false,
                Some((mut machine, idle)) => {
                    measured_by = Some(json!({"sampler": machine.describe(), "idle": idle}));
                    self.run_missing(&mut session, &mut machine, terminal)?
                }
            };
        }
        let seconds = Seconds {
            read: self.read,
            compute: clock.elapsed().as_secs_f64(),
            write: 0.0,
        };
        let tables = Tables::of(&session);
        self.write(&tables)?;
        let complete = is_over && session.is_complete();
        if complete {
            session.merge(&self.store)?;
        }
        let written = self.directory.finish_with(
            &End {
                sources: &self.sources,
                complete,
                seconds,
            },
            &json!({"measured_by": measured_by}),
        )?;
        remark(&[written]);
        if is_over {
            report(&session, &tables, found_done)
        } else {
            Err(Error::Interrupted)
        }
    }

    fn run_missing(
        &self,
        session: &mut Session<'_>,
        machine: &mut Machine,
        terminal: &Terminal,
    ) -> Result<bool> {
        let result = session.run_missing(machine, &self.store.writer(None), terminal);
        terminal.clear();
        result
    }

    /// Writes the tables that have rows.
    fn write(&self, tables: &Tables) -> Result<()> {
        if !tables.singles.is_empty() {
            let table = Table::of("single_data", &tables.singles);
            self.directory.write_table(&table)?;
        }
        if !tables.pairs.is_empty() {
            let table = Table::of("colocate_info", &tables.pairs);
            self.directory.write_table(&table)?;
        }
        if !tables.failures.is_empty() {
            let table = Table::of("errors", &tables.failures);
            self.directory.write_csv(&table)?;
        }
        Ok(())
    }
}

/// Prints the numbers of measurements (in total, done before, and failed), workloads and pairs. Returns an error if a
/// measurement failed.
fn report(session: &Session<'_>, tables: &Tables, found_done: usize) -> Result<()> {
    let all = session.measurements().count();
    let found_done = format!("{all}, {found_done} of them already done");
    let count = |rows: usize| rows.to_string();
    print(&text(&[Block::Facts(vec![
        Fact::new("measurements", found_done),
        Fact::new("workloads", count(tables.singles.len())),
        Fact::new("pairs", count(tables.pairs.len())),
        Fact::new("failed", count(tables.failures.len())),
    ])]))?;
    match tables.failures.first() {
        None => Ok(()),
        Some(first) => {
            let beside = if first.second.is_empty() {
                String::new()
            } else {
                format!(" beside {}", first.second)
            };
            let count = tables.failures.len();
            Err(Error::Run(format!(
                "{} failed (see errors.csv); the first is {}{beside}: {}",
                counted(count, "measurement"),
                first.first,
                first.problem
            )))
        }
    }
}

/// Measures scaling curves, and writes them as tasks.
fn scale(args: &Args, plan: &Plan, out: &Path) -> Result<()> {
    let terminal = Terminal::new(args.quiet);
    tasks::check_path(out)?;
    scaling::check(plan)?;
    let Some((mut machine, _)) = machine(args, plan, &terminal)? else {
        return Err(Error::Stopped);
    };
    let scaling = scaling::run(plan, &mut machine, &terminal);
    terminal.clear();
    let Some(scaling) = scaling? else {
        return Err(Error::Stopped);
    };
    remark(&scaling.failures);
    if !scaling.tasks.is_empty() {
        tasks::write(&scaling.tasks, out)?;
        let count = counted(scaling.tasks.len(), "task");
        remark(&[format!("{}: {count}", out.display())]);
    }
    match scaling.failures.len() {
        0 => Ok(()),
        failed => Err(Error::Run(format!(
            "{} failed",
            counted(failed, "measurement")
        ))),
    }
}
