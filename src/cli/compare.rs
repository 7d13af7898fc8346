//! `gleaner compare`: solvers side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args as ClapArgs};
use gleaner_solvers::{BigM, Formulation, Limits, Problem, SolverKind};
use serde::Serialize;

use super::terminal::Terminal;
use super::{explained, print, remark};
use crate::replay::OwnSolver;
use gleaner_core::Observer;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::compare::SolverRow;
use gleaner_core::results::programs::Tally;
use gleaner_core::results::run::Seconds;
use gleaner_core::words::counted;
use gleaner_document::text;
use gleaner_external::{Counted, External, SolverCommand, TallyHandle};
use gleaner_io::SourceId;
use gleaner_replay::compare::{self, Contender, KNOWN, Known, Recorder, summarise};
use gleaner_runs::compare as tables;
use gleaner_runs::read::programs;
use gleaner_runs::run::{End, RunDir};
use gleaner_setup::solver::{limits, report_faults};
use gleaner_setup::{Built, LogArgs, Replay, SolverChoice};

const EXAMPLES: &str = "Examples:\n  \
    gleaner compare --problems dataset/problems.jsonl\n  \
    gleaner compare --events dataset/idle.csv --tasks dataset/tasks.toml --every 100 \\\n      \
        --solvers exact,highs,equal-share --out compared";

/// Compare solvers on the same problems: objective, gap to the optimum, time, and how soon they have a
/// plan.
///
/// The problems come from a JSON file, or from every K-th decision of a log that is replayed with
/// --solver auto. Every answer is checked. After a few problems an estimate of the run time is
/// printed.
#[derive(Debug, ClapArgs, Serialize)]
#[command(group = ArgGroup::new("what").required(true).args(["problems", "events"]))]
#[command(after_help = EXAMPLES, after_long_help = explained(EXAMPLES, &tables::terms()))]
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
    let terminal = Terminal::new(args.quiet);
    let opened = Opened::read(args, Vec::new(), &terminal)?;
    let open = |path| RunDir::open(path, "compare", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let compared = opened.compare(&terminal)?;
    terminal.clear();
    if let Some(directory) = directory {
        remark(&[compared.write(directory)?]);
    }
    let tallies: Vec<Tally> = compared.tallies.iter().map(TallyHandle::get).collect();
    let programs = programs(&compared.lines, &tallies);
    print(&text(&tables::compared(&compared.lines, programs)))?;
    for tally in &compared.tallies {
        report_faults(Some(tally), args.strict, &terminal)?;
    }
    for tally in &compared.ours {
        report_faults(Some(tally), args.strict, &terminal)?;
    }
    if compared.is_complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}

/// Solvers, and the problems on which they are to be compared.
pub struct Opened {
    problems: Vec<Problem>,
    /// Every file read.
    pub sources: Vec<SourceId>,
    contenders: Vec<Contender>,
    ours: Vec<TallyHandle>,
    tallies: Vec<TallyHandle>,
    limits: Limits,
    seconds: Seconds,
}

/// What came of a comparison, complete or stopped.
pub struct Compared {
    /// Answers, and plans on the way to them.
    pub outcome: compare::Compared,
    /// A row for each solver.
    pub lines: Vec<SolverRow>,
    /// Counts of the answers of external solvers.
    pub tallies: Vec<TallyHandle>,
    /// Counts of the answers of built-in solvers.
    pub ours: Vec<TallyHandle>,
    /// Whether every solver was asked for every problem.
    pub is_complete: bool,
    sources: Vec<SourceId>,
    seconds: Seconds,
}

impl Opened {
    /// Reads and checks all inputs, or records the problems of a log. Starts the solvers that are programs; the
    /// caller's `own` come last.
    ///
    /// # Errors
    /// Wrong usage, invalid input, a program that does not start.
    pub fn read(args: &Args, own: Vec<OwnSolver>, observer: &dyn Observer) -> Result<Self> {
        let known = known(args)?;
        let limits = limits(args.time_limit, args.gap)?;
        let clock = Instant::now();
        let (problems, sources) = problems(args, limits, observer)?;
        check_named(args, &known, &problems)?;
        let known = known.into_iter().map(Known::build);
        let known = known.collect::<Result<Vec<_>>>()?;
        let (mut contenders, ours): (Vec<_>, Vec<_>) =
            known.into_iter().map(counted_failures).unzip();
        Ok(Opened {
            ours,
            tallies: add_others(&args.program, own, &mut contenders, observer)?,
            contenders,
            problems,
            sources,
            limits,
            seconds: Seconds {
                read: clock.elapsed().as_secs_f64(),
                ..Seconds::default()
            },
        })
    }

    /// Asks every solver for every problem.
    ///
    /// # Errors
    /// A solver that fails.
    pub fn compare(self, observer: &dyn Observer) -> Result<Compared> {
        let Opened {
            problems,
            mut contenders,
            limits,
            ..
        } = self;
        observer.inform(&[format!(
            "comparing on {}",
            counted(problems.len(), "problem")
        )]);
        let clock = Instant::now();
        let outcome = compare::compare(&problems, &mut contenders, &limits, observer)?;
        Ok(Compared {
            lines: summarise(&outcome.answers, &contenders),
            is_complete: outcome.answers.len() == problems.len() * contenders.len(),
            tallies: self.tallies,
            ours: self.ours,
            outcome,
            sources: self.sources,
            seconds: Seconds {
                compute: clock.elapsed().as_secs_f64(),
                ..self.seconds
            },
        })
    }
}

impl Args {
    /// Whether faults of a solver that is not ours fail the command.
    pub fn is_strict(&self) -> bool {
        self.strict
    }
}

impl Compared {
    /// Writes the run directory. Returns a line that says what it holds.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, directory: RunDir) -> Result<String> {
        let clock = Instant::now();
        let compare::Compared {
            answers,
            incumbents,
        } = &self.outcome;
        for table in tables::tables(answers, &self.lines, incumbents) {
            directory.write_table(&table)?;
        }
        if !self.tallies.is_empty() {
            let tallies: Vec<Tally> = self.tallies.iter().map(TallyHandle::get).collect();
            directory.write_json("programs.json", &tallies)?;
        }
        let write = clock.elapsed().as_secs_f64();
        directory.finish(&End {
            sources: &self.sources,
            complete: self.is_complete,
            seconds: Seconds {
                write,
                ..self.seconds
            },
        })
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

/// Counts the failures of a solver's library.
fn counted_failures(contender: Contender) -> (Contender, TallyHandle) {
    let solver = Counted::new(contender.solver, None);
    let tally = solver.tally();
    let contender = Contender {
        solver: Box::new(solver),
        ..contender
    };
    (contender, tally)
}

/// Starts the programs, and adds them and the caller's own solvers to the contenders. Returns the counts of
/// their answers.
fn add_others(
    programs: &[SolverCommand],
    own: Vec<OwnSolver>,
    contenders: &mut Vec<Contender>,
    observer: &dyn Observer,
) -> Result<Vec<TallyHandle>> {
    let mut others: Vec<OwnSolver> = Vec::new();
    for command in programs {
        let mut program = External::start(command.clone(), BigM::default())?;
        program.stop_when(Arc::clone(observer.stop()));
        let tally = program.tally();
        others.push((Box::new(program), tally));
    }
    others.extend(own);
    let mut tallies = Vec::new();
    for (solver, tally) in others {
        tallies.push(tally);
        contenders.push(Contender {
            name: unlike(solver.name(), contenders).into(),
            solver,
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

fn problems(
    args: &Args,
    limits: Limits,
    observer: &dyn Observer,
) -> Result<(Vec<Problem>, Vec<SourceId>)> {
    if let Some(path) = &args.problems {
        let loaded = gleaner_inputs::problems::read(path)?;
        return Ok((loaded.value, loaded.sources));
    }
    args.log.rules.check()?;
    let inputs = Replay::open(&args.log, false, observer)?;
    observer.inform(&inputs.notes);
    let auto = Built::new(
        &SolverChoice::Ours(SolverKind::Auto),
        Formulation::default(),
        BigM::default(),
    )?;
    let outline = inputs.options.outline(&inputs.tasks);
    let decider = auto.decider(&outline, limits)?;
    let mut recorder = Recorder::new(decider, args.every);
    let outcome = gleaner_replay::run(
        &inputs.log,
        &inputs.tasks,
        &inputs.options,
        &mut recorder,
        observer,
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
