//! `gleaner compare`: solvers side by side.

use std::path::PathBuf;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args as ClapArgs};
use gleaner_solvers::{BigM, Formulation, Problem, Solver, SolverKind};
use serde::Serialize;

use super::progress::Progress;
use super::{interrupt, print, remark};
use gleaner_core::error::{Error, Result};
use gleaner_core::results::run::Seconds;
use gleaner_core::words::counted;
use gleaner_external::{External, SolverCommand, Tally, TallyHandle};
use gleaner_formats::ingest::{self, SourceId};
use gleaner_formats::output::compare as tables;
use gleaner_formats::output::run::{End, RunDir};
use gleaner_replay::Control;
use gleaner_replay::compare::{self, Contender, KNOWN, Known, Recorder, summarise};
use gleaner_setup::solver::{limits, report_faults};
use gleaner_setup::{Built, LogArgs, Replay, SolverChoice};

/// Compare solvers on the same problems: objective, gap to the optimum, time, and how soon they have a
/// plan.
///
/// The problems come from a JSON file, or from every K-th decision of a log that is replayed with
/// --solver auto. Every answer is checked. After a few problems an estimate of the run time is
/// printed.
#[derive(Debug, ClapArgs, Serialize)]
#[command(group = ArgGroup::new("what").required(true).args(["problems", "events"]))]
#[command(after_help = "Examples:\n  \
    gleaner compare --problems dataset/problems.jsonl\n  \
    gleaner compare --events dataset/idle.csv --tasks dataset/tasks.toml --every 100 \\\n      \
        --solvers exact,highs,equal-share --out compared")]
pub struct Args {
    /// Problems as JSON or JSON lines; - for stdin.
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    log: LogArgs,
    /// Compare on the first and then on every K-th decision of the log.
    #[arg(long, value_name = "K", default_value_t = 100)]
    every: usize,
    /// Solvers to compare, separated by commas [default: exact, highs, cbc and equal-share, as
    /// far as this build has them]. highs-paper and cbc-paper use the formulation of the paper,
    /// which takes a thousand times as long.
    #[arg(long, value_delimiter = ',', value_name = "NAMES",
          value_parser = PossibleValuesParser::new(KNOWN.map(|known| known.name)))]
    solvers: Vec<String>,
    /// A program to compare too (docs/SOLVERS.md), such as "exec:python3 dp.py"; may be given more
    /// than once.
    #[arg(long, value_name = "exec:COMMAND")]
    program: Vec<SolverCommand>,
    /// Seconds that a solver may take for one problem.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_limit: f64,
    /// Relative gap at which MILP solvers call a plan optimal.
    #[arg(long, value_name = "GAP", default_value = "1e-9")]
    gap: f64,
    /// Exit with 1 if a program was wrong, late or died.
    #[arg(long)]
    strict: bool,
    /// Directory for run.json and the tables as CSV and Parquet.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Show no progress bar.
    #[arg(long)]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, invalid input, a solver that fails, or an interrupt.
pub fn run(args: &Args) -> Result<()> {
    let known = known(args)?;
    let limits = limits(args.time_limit, args.gap)?;
    let clock = Instant::now();
    let (problems, sources) = problems(args)?;
    check_named(args, &known, &problems)?;
    let mut contenders = known
        .into_iter()
        .map(Known::build)
        .collect::<Result<Vec<_>>>()?;
    let tallies = add_programs(&args.program, &mut contenders)?;
    let open = |path| RunDir::open(path, "compare", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let read = clock.elapsed().as_secs_f64();
    remark(&[format!(
        "comparing on {}",
        counted(problems.len(), "problem")
    )]);

    let clock = Instant::now();
    let stop = interrupt::flag();
    let mut progress = Progress::new(args.quiet);
    let control = compare::Control {
        stop,
        progress: &mut |done, total| progress.update(done, total),
        estimate: &mut |estimate| remark(&[tables::estimate(estimate)]),
    };
    let compared = compare::compare(&problems, &mut contenders, &limits, control)?;
    progress.finish();
    let lines = summarise(&compared.answers, &contenders);
    let complete = compared.answers.len() == problems.len() * contenders.len();
    if let Some(directory) = directory {
        for table in tables::tables(&compared.answers, &lines, &compared.incumbents) {
            directory.write_table(&table)?;
        }
        if !tallies.is_empty() {
            let tallies: Vec<Tally> = tallies.iter().map(TallyHandle::get).collect();
            directory.write_json("programs.json", &tallies)?;
        }
        let written = directory.finish(&End {
            sources: &sources,
            complete,
            seconds: Seconds {
                read,
                compute: clock.elapsed().as_secs_f64(),
                write: 0.0,
            },
        })?;
        remark(&[written]);
    }
    print(&tables::text(&lines))?;
    for tally in &tallies {
        let told = tally.get();
        print(&told.to_string())?;
        report_faults(Some(tally), args.strict, &remark)?;
    }
    if complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}

/// Those of our solvers that are named, or those that are compared unless any is.
fn known(args: &Args) -> Result<Vec<Known>> {
    if args.solvers.is_empty() {
        let of_this_build = |known: &Known| known.is_default() && known.spec.build().is_ok();
        return Ok(KNOWN.into_iter().filter(of_this_build).collect());
    }
    let named = |name: &String| KNOWN.into_iter().find(|known| known.name == name);
    let named: Vec<Known> = args.solvers.iter().filter_map(named).collect();
    for known in &named {
        known.spec.build()?;
    }
    Ok(named)
}

/// Starts the programs and adds them to the contenders. Returns the counts of their answers.
fn add_programs(
    programs: &[SolverCommand],
    contenders: &mut Vec<Contender>,
) -> Result<Vec<TallyHandle>> {
    let mut tallies = Vec::new();
    for command in programs {
        let program = External::start(command.clone(), BigM::default())?;
        tallies.push(program.tally());
        contenders.push(Contender {
            name: unlike(program.name(), contenders).into(),
            solver: Box::new(program),
        });
    }
    Ok(tallies)
}

/// The name of a program in tables; with a number if another contender has that name.
fn unlike(name: &str, contenders: &[Contender]) -> String {
    let is_free = |name: &String| contenders.iter().all(|other| other.name != *name);
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// Refuses a solver that was named and takes none of the problems.
fn check_named(args: &Args, known: &[Known], problems: &[Problem]) -> Result<()> {
    for known in known.iter().filter(|_| !args.solvers.is_empty()) {
        let refusals = problems.iter().map(|p| known.spec.accepts(p).err());
        let Some(refusals) = refusals.collect::<Option<Vec<_>>>() else {
            continue;
        };
        if let Some(first) = refusals.first() {
            let name = known.name;
            let message = format!("--solvers {name} can solve none of the problems: {first}");
            return Err(Error::Usage(message));
        }
    }
    Ok(())
}

fn problems(args: &Args) -> Result<(Vec<Problem>, Vec<SourceId>)> {
    if let Some(path) = &args.problems {
        let loaded = ingest::problems::read(path)?;
        return Ok((loaded.value, loaded.sources));
    }
    args.log.rules.check()?;
    let inputs = Replay::open(&args.log, false, &remark)?;
    let auto = Built::new(
        &SolverChoice::Ours(SolverKind::Auto),
        Formulation::default(),
        BigM::default(),
    )?;
    let outline = inputs.options.outline(&inputs.tasks);
    let decider = auto.decider(&outline, limits(args.time_limit, args.gap)?)?;
    let mut recorder = Recorder::new(decider, args.every);
    let control = Control {
        stop: interrupt::flag(),
        progress: &mut |_, _| {},
    };
    let outcome = gleaner_replay::run(
        &inputs.log,
        &inputs.tasks,
        &inputs.options,
        &mut recorder,
        control,
    )?;
    if recorder.problems.is_empty() && !outcome.summary.complete {
        return Err(Error::Interrupted);
    }
    if recorder.problems.is_empty() {
        return Err(Error::Run(
            "the replay met no event with idle nodes and active tasks".into(),
        ));
    }
    Ok((recorder.problems, inputs.sources))
}
