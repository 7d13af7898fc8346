//! `gleaner replay`: what training would have harvested from an event log.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args as ClapArgs;
use gleaner_solvers::{BigM, Limits, Solver};
use serde::Serialize;

use super::caller::{Caller, Terminal};
use super::failing_problems::{FailingProblems, Witness};
use super::progress::Progress;
use super::{explained, print, print_json, remark};
use gleaner_core::domain::NodeRule;
use gleaner_core::error::{Error, Result};
use gleaner_core::results::replay::Outcome;
use gleaner_core::results::run::Seconds;
use gleaner_external::TallyHandle;
use gleaner_formats::ingest;
use gleaner_formats::output::run::{End, RunDir};
use gleaner_formats::output::{replay as tables, summary};
use gleaner_replay::{Control, Decider, Initial, SolverDecider};
use gleaner_setup::solver::report_faults;
use gleaner_setup::{LogArgs, Replay, SolverArgs, SolverChoice, report_left_out};

const EXAMPLES: &str = "Examples:\n  \
    gleaner replay --events dataset/idle.csv --tasks dataset/tasks.toml --t-fwd 120 --out run\n  \
    gleaner replay --events ndstat-10sdn6-evt.tar.gz --cache --skip-rows 1000 \\\n      \
        --tasks hps-shufflenet-Jbnd-10J.pkl --curves hps-shufflenet-JNPs-10J.pkl --out run\n  \
    gleaner replay -ndmap summit.gev -bdfn Jbnd.pkl -scfn JNPs.pkl -Tfwd 60 -nN 100 -name mine";

/// Replay a log of idle nodes, and allocate the nodes to elastic training tasks.
///
/// At each event the solver reallocates the idle nodes among the active tasks. It keeps within
/// the tasks' bounds, and weighs their scaling curves against their rescale costs over the window
/// --t-fwd. The flags of BFTrainer's replayer (-ndmap -bdfn -scfn -Tfwd -optTL -nis -nN -maxJ
/// -mip -name -print) work as well; "the original" is that replayer.
#[derive(Debug, ClapArgs, Serialize)]
#[command(after_help = EXAMPLES, after_long_help = explained(EXAMPLES, &summary::TERMS))]
pub struct Args {
    #[command(flatten)]
    #[serde(flatten)]
    log: LogArgs,
    /// Leave out faulty tasks, and list them in skipped.csv.
    #[arg(long)]
    skip_invalid: bool,
    /// Apply the allocations of this alloc.jsonl instead of solving. The replay ends where the
    /// file ends.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["solver", "initial", "completion_events", "repeat_tasks", "topology"])]
    scripted: Option<PathBuf>,
    /// Check every decision with a checker that shares no code with the solvers.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    #[serde(flatten)]
    solver: SolverArgs,
    /// Directory for run.json, summary.json and the tables as CSV and Parquet.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Print the summary as JSON instead of a table.
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Show no progress bar.
    #[arg(long, help_heading = "Output")]
    quiet: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong usage, invalid input, a failed run, or an interrupt after its results are written.
pub fn run(args: &Args) -> Result<()> {
    args.log.rules.check()?;
    let open = |path| RunDir::open(path, "replay", args);
    let directory = args.out.as_deref().map(open).transpose()?;
    let opened = Opened::read(args, &Terminal)?;
    let failing = opened.failing.clone();
    let mut replayed = match opened.run(args, None, &Terminal) {
        Ok(replayed) => replayed,
        Err(error) => return Err(failing.keep(error, directory)),
    };
    remark(&failing.remark(args.out.as_deref()));
    if let Some(directory) = directory {
        remark(&[replayed.write(directory)?]);
    }
    let Replayed {
        outcome,
        tally,
        seconds,
        ..
    } = replayed;
    match args.json {
        true => print_json(&summary::json(&outcome.summary)?)?,
        false => print(&summary::text(&outcome.summary, seconds))?,
    }
    remark(&outcome.summary.remarks());
    report_faults(tally.as_ref(), args.solver.strict, &remark)?;
    if outcome.summary.complete {
        Ok(())
    } else {
        Err(Error::Interrupted)
    }
}

impl Args {
    /// The big-M under which plans are checked.
    pub fn big_m(&self) -> BigM {
        self.solver.big_m
    }

    /// Whether faults of a solver that is not ours fail the run.
    pub fn is_strict(&self) -> bool {
        self.solver.strict
    }
}

/// A replay that was read, and has not begun.
pub struct Opened {
    /// What is replayed.
    pub inputs: Replay,
    /// Problems on which the solver's answers were faulty.
    pub failing: FailingProblems,
    seconds: Seconds,
}

/// A replay, complete or stopped.
pub struct Replayed {
    /// What was replayed.
    pub inputs: Replay,
    /// What came of it.
    pub outcome: Outcome,
    /// Counts of the solver's answers; `None` if there is no solver.
    pub tally: Option<TallyHandle>,
    /// Problems on which the solver's answers were faulty.
    failing: FailingProblems,
    /// Wall time so far.
    pub seconds: Seconds,
}

/// A solver of the caller's own, with the counts of its answers.
pub type OwnSolver = (Box<dyn Solver + Send>, TallyHandle);

impl Opened {
    /// Reads and checks all inputs.
    ///
    /// # Errors
    /// Wrong usage, invalid input.
    pub fn read(args: &Args, caller: &dyn Caller) -> Result<Self> {
        args.log.rules.check()?;
        let clock = Instant::now();
        let remark = |remarks: &[String]| caller.remark(remarks);
        let inputs = Replay::open(&args.log, args.skip_invalid, &remark)?;
        caller.inform(&inputs.notes);
        let seconds = Seconds {
            read: clock.elapsed().as_secs_f64(),
            ..Seconds::default()
        };
        Ok(Opened {
            inputs,
            failing: FailingProblems::default(),
            seconds,
        })
    }

    /// Replays, with a solver of the caller's own in place of the one that the arguments name.
    ///
    /// # Errors
    /// Wrong usage, an invalid script, a failed run.
    pub fn run(
        mut self,
        args: &Args,
        own: Option<OwnSolver>,
        caller: &dyn Caller,
    ) -> Result<Replayed> {
        if args.scripted.is_some() && own.is_some() {
            let message = "--scripted names the allocations: leave the solver out";
            return Err(Error::Usage(message.into()));
        }
        let clock = Instant::now();
        let inputs = &mut self.inputs;
        let (mut decider, tally) = decider(args, inputs, own, &self.failing, caller)?;
        if args.scripted.is_some() {
            // Event 0 of the script is the initial assignment. The script names nodes, and its other
            // events are rows of the log.
            inputs.options.initial = Initial::Solve;
            inputs.options.node_choice = NodeRule::Arrival;
            inputs.options.completion_events = false;
        }
        report_left_out(&inputs.skipped, &|remarks: &[String]| {
            caller.remark(remarks);
        });
        self.seconds.read += clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        let mut progress = Progress::new(args.quiet);
        let control = Control {
            stop: caller.stop(),
            progress: &mut |done, total| {
                caller.tick();
                progress.update(done, total);
            },
        };
        let outcome = gleaner_replay::run(
            &inputs.log,
            &inputs.tasks,
            &inputs.options,
            decider.as_mut(),
            control,
        )?;
        progress.finish();
        drop(decider);
        self.seconds.compute = clock.elapsed().as_secs_f64();
        Ok(Replayed {
            inputs: self.inputs,
            outcome,
            tally,
            failing: self.failing,
            seconds: self.seconds,
        })
    }
}

/// What decides, and the counts of its answers if it is not ours.
fn decider(
    args: &Args,
    inputs: &mut Replay,
    own: Option<OwnSolver>,
    failing: &FailingProblems,
    caller: &dyn Caller,
) -> Result<(Box<dyn Decider>, Option<TallyHandle>)> {
    if let Some(path) = &args.scripted {
        let script = ingest::script::read(path, &inputs.log)?;
        inputs.sources.extend(script.sources);
        return Ok((Box::new(script.value), None));
    }
    let limits = args.solver.limits()?;
    let (decider, tally) = match own {
        Some((solver, tally)) => (SolverDecider::of(solver, limits), Some(tally)),
        None => named(args, inputs, limits, caller)?,
    };
    let decider = match args.check {
        true => decider.checked(args.solver.big_m),
        false => decider,
    };
    let decider = Witness {
        decider,
        tally: tally.clone(),
        failing: failing.clone(),
    };
    Ok((Box::new(decider), tally))
}

/// The solver that the arguments name.
fn named(
    args: &Args,
    inputs: &mut Replay,
    limits: Limits,
    caller: &dyn Caller,
) -> Result<(SolverDecider, Option<TallyHandle>)> {
    let mut solver = args.solver.build()?;
    solver.stop_when(caller.stop());
    let tally = Some(solver.tally());
    if let SolverChoice::Program(command) = &args.solver.solver {
        let files = command.files();
        let identified = files
            .iter()
            .map(|path| ingest::source::Source::identify(path));
        inputs
            .sources
            .extend(identified.collect::<Result<Vec<_>>>()?);
    }
    let outline = inputs.options.outline(&inputs.tasks);
    Ok((solver.decider(&outline, limits)?, tally))
}

impl Replayed {
    /// Writes the run directory. Returns a line that says what it holds.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&mut self, directory: RunDir) -> Result<String> {
        let clock = Instant::now();
        if let Some(tally) = self.tally.as_ref().and_then(TallyHandle::to_keep) {
            directory.write_json("solver.json", &tally)?;
        }
        let Replayed {
            inputs, outcome, ..
        } = &self;
        directory.write_skipped(&inputs.skipped)?;
        self.failing.write(&directory)?;
        let fragments = tables::fragments(&inputs.log);
        for table in tables::tables(outcome, &inputs.log, &fragments) {
            directory.write_table(&table)?;
        }
        directory.write_json("summary.json", &outcome.summary)?;
        self.seconds.write = clock.elapsed().as_secs_f64();
        directory.finish(&End {
            sources: &self.inputs.sources,
            complete: self.outcome.summary.complete,
            seconds: self.seconds,
        })
    }
}
