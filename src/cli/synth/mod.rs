//! `gleaner synth`: generates event logs, task sets, searches, experiments of GPU clusters, and training graphs.

mod for_trace;
mod graphs;
mod jobs;
mod schedule;
mod search;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::remark;
use super::terminal::Terminal;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result, check_stop};
use gleaner_domain::words::counted;
use gleaner_domain::{Local, Utc};
use gleaner_inputs::write::events::Layout;
use gleaner_inputs::write::{events, tasks};
use gleaner_io::files::Output;
use gleaner_synth::events::{EventOptions, FragmentLength};
use gleaner_synth::tasks::TaskOptions;
use serde_json::Value;

/// Generate logs, tasks, searches, problems, jobs or graphs.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Example:\n  gleaner synth events --nodes 100 --days 2 -o idle.csv")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Events(EventArgs),
    Tasks(TaskArgs),
    Search(search::Args),
    Problems(ProblemArgs),
    Jobs(jobs::Args),
    Graphs(graphs::Args),
    #[command(flatten)]
    Schedule(schedule::What),
}

/// Generate an event log of nodes that alternate between busy and idle.
///
/// The defaults resemble a large machine: 8.7 % of node-time is idle, and half of the idle
/// fragments are shorter than 8 minutes.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth events --nodes 100 --days 2 -o idle.csv\n  \
    gleaner synth events --nodes 4000 --days 14 --lengths exponential --fragment 1800 -o big.gev\n  \
    gleaner synth events --classes v100=60,a100=40 -o mixed.csv")]
struct EventArgs {
    /// Number of nodes.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    nodes: u32,
    /// Classes of the nodes, separated by commas, each with its number of nodes. The nodes of a class are consecutive,
    /// and their idle fragments do not depend on the class.
    #[arg(
        long,
        value_name = "NAME=COUNT",
        value_delimiter = ',',
        value_parser = class,
        conflicts_with = "nodes"
    )]
    classes: Vec<(String, u32)>,
    /// Span in days.
    #[arg(long, value_name = "DAYS", default_value_t = 2.0)]
    days: f64,
    /// Time of the first row.
    #[arg(long, value_name = "TIME", default_value = "2026-01-01 00:00:00")]
    start: String,
    /// Share of node-time that is idle.
    #[arg(long, value_name = "SHARE", default_value_t = 0.087)]
    idle_share: f64,
    /// Distribution of the lengths of idle fragments.
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Lengths::LogNormal)]
    lengths: Lengths,
    /// Length of idle fragments in seconds: the median (lognormal), the mean (exponential) or
    /// every length (fixed).
    #[arg(long, value_name = "SECONDS", default_value_t = 490.0)]
    fragment: f64,
    /// Standard deviation of the logarithm of lognormal lengths.
    #[arg(long, value_name = "NUMBER", default_value_t = 1.37)]
    sigma: f64,
    /// Sampling interval in seconds: states change only at multiples of this interval.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    poll: u32,
    /// Seed. The same seed gives the same log.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// File to write: a name that ends in .csv, .parquet or .gev.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Distribution of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lengths {
    /// Many short and few long fragments, as on real machines.
    #[value(name = "lognormal")]
    LogNormal,
    /// Memoryless: the age of a fragment carries no information about its remaining length.
    Exponential,
    /// All fragments have the same length.
    Fixed,
}

/// Generate a set of elastic training tasks.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth tasks --count 20 -o tasks.toml\n  \
    gleaner synth tasks --count 20 --classes v100=1,a100=2.4 -o tasks.toml")]
struct TaskArgs {
    /// Number of tasks.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    count: u32,
    /// Number of different models. Tasks with the same model share a scaling curve.
    #[arg(long, value_name = "COUNT", default_value_t = 4)]
    models: u32,
    /// Maximum number of nodes of a task.
    #[arg(long, value_name = "COUNT", default_value_t = 16)]
    max_nodes: u32,
    /// Mean work of a task, in hours on one node.
    #[arg(long, value_name = "HOURS", default_value_t = 12.0)]
    hours: f64,
    /// Time at which the first task is submitted [default: the start of the log that is
    /// replayed].
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Seconds between two submissions. Needs --start.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.0,
        requires = "start"
    )]
    submit_every: f64,
    /// Give each task a curve for each of these classes of nodes. The curve of a class is the task's curve, multiplied
    /// by the factor of the class and by a number from 0.8 to 1.2. That number depends on the model and the class.
    /// About a tenth of the tasks cannot use one of the classes.
    #[arg(long, value_name = "NAME=FACTOR", value_delimiter = ',', value_parser = class_factor)]
    classes: Vec<(String, f64)>,
    /// Seed. The same seed gives the same tasks.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// File to write: a name that ends in .toml or .json.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Generate allocation problems for `gleaner solve` and `gleaner compare`, as JSON lines.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner synth problems --count 5 --tasks 100 --nodes 1500 -o - | gleaner compare --problems -\n  \
    gleaner synth problems --classes curves --tasks 30 --nodes 400 -o - | gleaner solve")]
struct ProblemArgs {
    /// Number of problems. All problems together may have at most 10,000,000 tasks.
    #[arg(long, value_name = "COUNT", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Number of tasks in each problem.
    #[arg(long, value_name = "COUNT", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    tasks: u32,
    /// Number of idle nodes in each problem.
    #[arg(long, value_name = "COUNT", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    nodes: u32,
    /// Generate problems with three classes of nodes, in this form.
    #[arg(long, value_enum, value_name = "FORM")]
    classes: Option<ClassForm>,
    /// Seed of the first problem. Each further problem uses the next seed.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// File to write; - for stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// The form of problems with node classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClassForm {
    /// Tasks with a scaling curve for each class, and costs of rescaling
    Curves,
    /// Jobs with a list of options, as in a scheduling round of Sia; --nodes is the number of GPUs
    Options,
}

/// Runs the subcommand.
///
/// # Errors
/// An option is out of range, or an output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Events(args) => synth_events(args),
        What::Tasks(args) => synth_tasks(args),
        What::Search(args) => search::run(args),
        What::Problems(args) => synth_problems(args),
        What::Jobs(args) => jobs::run(args),
        What::Graphs(args) => graphs::run(args),
        What::Schedule(what) => schedule::run(what),
    }
}

fn synth_problems(args: &ProblemArgs) -> Result<()> {
    const MOST_TASKS: u64 = 10_000_000;
    let all = u64::from(args.count) * u64::from(args.tasks);
    if all > MOST_TASKS {
        return Err(Error::Usage(format!(
            "--count and --tasks request {all} tasks, expected at most {MOST_TASKS}"
        )));
    }
    let Some(last) = args.seed.checked_add(u64::from(args.count) - 1) else {
        return Err(Error::Usage(format!(
            "--seed is {}, expected at most {}, because the {} problems have consecutive seeds",
            args.seed,
            u64::MAX - u64::from(args.count) + 1,
            args.count
        )));
    };
    let mut out = Output::create(&args.output)?;
    let terminal = Terminal::default();
    for seed in args.seed..=last {
        check_stop(&terminal)?;
        let line = problem_line(args, seed).map_err(|e| Error::Run(e.to_string()))?;
        let written = writeln!(out, "{line}");
        written.map_err(|e| Error::io("write", &args.output, e))?;
    }
    out.finish()
}

/// A generated problem as JSON.
fn problem_line(args: &ProblemArgs, seed: u64) -> serde_json::Result<String> {
    use gleaner_classes::synthetic::{self, Values};

    let (tasks, nodes) = (args.tasks as usize, args.nodes);
    match args.classes {
        None => serde_json::to_string(&gleaner_solvers::synthetic::problem(tasks, nodes, seed)),
        Some(ClassForm::Curves) => {
            let problem = serde_json::to_value(synthetic::problem(tasks, nodes, seed))?;
            Ok(as_documented(problem).to_string())
        }
        Some(ClassForm::Options) => {
            serde_json::to_string(&synthetic::round(tasks, nodes, Values::Rounded, seed))
        }
    }
}

/// Converts a problem with curves to its documented form: with the documented field names, and without empty fields.
fn as_documented(mut problem: Value) -> Value {
    let classes = problem["classes"].as_array_mut().into_iter().flatten();
    for class in classes.filter_map(Value::as_object_mut) {
        if let Some(nodes) = class.remove("capacity") {
            class.insert("nodes".to_owned(), nodes);
        }
    }
    let tasks = problem["tasks"].as_array_mut().into_iter().flatten();
    for task in tasks.filter_map(Value::as_object_mut) {
        task.retain(|_, value| !value.is_null());
    }
    problem
}

fn synth_events(args: &EventArgs) -> Result<()> {
    let fragment = match args.lengths {
        Lengths::LogNormal => FragmentLength::LogNormal {
            median: args.fragment,
            sigma: args.sigma,
        },
        Lengths::Exponential => FragmentLength::Exponential {
            mean: args.fragment,
        },
        Lengths::Fixed => FragmentLength::Fixed {
            seconds: args.fragment,
        },
    };
    events::Format::of(&args.output)?;
    let nodes = match args.classes.as_slice() {
        [] => args.nodes,
        blocks => blocks
            .iter()
            .fold(0, |sum: u32, (_, nodes)| sum.saturating_add(*nodes)),
    };
    let options = EventOptions {
        nodes,
        days: args.days,
        start: time("--start", &args.start)?,
        idle_share: args.idle_share,
        fragment,
        poll: args.poll,
        seed: args.seed,
    };
    let log = generated(|observer| gleaner_synth::events::generate(&options, observer))?;
    let log = match args.classes.as_slice() {
        [] => log,
        blocks => log.with_classes(Some(gleaner_synth::events::classes(blocks)?)),
    };
    events::write(&log, &args.output, Layout::Long, None)?;
    remark(&[format!(
        "{}: {}, {}, {}",
        args.output.display(),
        counted(log.len(), "event"),
        counted(log.nodes().len(), "node"),
        counted(log.change_count(), "change")
    )]);
    Ok(())
}

/// Parses a class and its number of nodes, such as `v100=60`.
fn class(text: &str) -> Result<(String, u32), String> {
    let class = text.split_once('=').and_then(|(name, nodes)| {
        let nodes = nodes.parse().ok().filter(|nodes| *nodes > 0);
        (!name.is_empty()).then_some((name.to_owned(), nodes?))
    });
    class.ok_or_else(|| "expected NAME=COUNT, such as v100=60".to_owned())
}

fn synth_tasks(args: &TaskArgs) -> Result<()> {
    let start = args
        .start
        .as_deref()
        .map(|text| time("--start", text))
        .transpose()?;
    let mut set = gleaner_synth::tasks::generate(&TaskOptions {
        count: args.count,
        models: args.models,
        max_nodes: args.max_nodes,
        hours: args.hours,
        start,
        submit_every: args.submit_every,
        seed: args.seed,
    })?;
    if !args.classes.is_empty() {
        set = gleaner_synth::tasks::in_classes(set, &args.classes, args.seed)?;
    }
    tasks::write(&set, &args.output)?;
    remark(&[format!(
        "{}: {}",
        args.output.display(),
        counted(set.len(), "task")
    )]);
    Ok(())
}

/// Parses the name of a class and its factor.
fn class_factor(text: &str) -> std::result::Result<(String, f64), String> {
    let pair = text
        .rsplit_once('=')
        .and_then(|(name, factor)| Some((name.trim().to_owned(), factor.trim().parse().ok()?)));
    pair.ok_or_else(|| "expected a class and its factor, such as a100=2.4".to_owned())
}

/// Runs a generator with a progress bar. A signal stops the generator.
fn generated<T>(generate: impl FnOnce(&dyn Observer) -> Result<T>) -> Result<T> {
    let terminal = Terminal::default();
    let made = generate(&terminal);
    terminal.clear();
    made
}

fn time(flag: &str, text: &str) -> Result<Utc> {
    let time: Local = text
        .parse()
        .map_err(|e| Error::Usage(format!("{flag} {text}: {e}")))?;
    Ok(time.from_offset(0))
}
