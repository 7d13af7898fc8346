//! Replays, which compute the work that elastic training tasks would have done on the idle nodes of a log.

mod failing;

use std::path::{Path, PathBuf};
use std::time::Instant;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::replay::{Outcome, Summary};
use gleaner_domain::results::run::Seconds;
use gleaner_domain::{EventLog, NodeRule, Objective, TrainingTask, objective};
use gleaner_domain::{Observer, Unobserved};
use gleaner_exec_solver::{FunctionPlan, FunctionSolver, TallyHandle};
use gleaner_io::SourceId;
use gleaner_replay::{Decider, Initial, Own, SolverDecider};
use gleaner_runs::replay as tables;
use gleaner_runs::run::{End, RunDir};
use gleaner_setup::settings::Settings;
use gleaner_setup::solver::report_faults;
use gleaner_setup::{Rules, SolverChoice, TFwd, report_left_out};
use gleaner_solvers::{BigM, Limits, Problem, Solver};

use crate::{TaskObjective, Tasks};
use failing::{FailingProblems, Witness};
pub use gleaner_replay::allocator::{NewTrial, Searcher};
pub use gleaner_setup::ReplaySettings;

/// A caller's own search.
pub type OwnSearch<'a> = Box<dyn Searcher + Send + 'a>;

/// A caller's own solver, with the counts of its answers.
pub type OwnSolver = (Box<dyn Solver + Send>, TallyHandle);

/// Configures and runs a replay.
///
/// ```
/// use gleaner::{EventLog, Open, Replay, Tasks};
///
/// # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
/// let log = EventLog::open("dataset/idle.csv")?;
/// let tasks = Tasks::open("dataset/tasks.toml")?;
/// let replayed = Replay::new(log, tasks).t_fwd(120.0).max_tasks(10).run()?;
/// let summary = replayed.summary();
/// assert_eq!(summary.events, summary.events_optimal);
/// println!("{:?} of the idle node-time was used", summary.used_share);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a replay does nothing until `run` is called"]
pub struct Replay<'a> {
    settings: ReplaySettings,
    /// The caller's log and tasks; `None` if the settings name files instead.
    given: Option<(EventLog, Tasks)>,
    objective: Option<(String, Box<TaskObjective<'a>>)>,
    solver: Option<OwnSolver>,
    search: Option<OwnSearch<'a>>,
    observer: &'a dyn Observer,
}

impl<'a> Replay<'a> {
    /// Creates a replay of `tasks` on `log` with the default settings.
    pub fn new(log: EventLog, tasks: Tasks) -> Self {
        Replay {
            given: Some((log, tasks)),
            ..Self::with(ReplaySettings::default())
        }
    }

    /// Creates a replay of a log file and a task file, in any format that `gleaner replay` reads.
    /// [`Replay::run`] reads these files, and `run.json` lists them with their digests.
    pub fn of_files(events: impl Into<PathBuf>, tasks: impl Into<PathBuf>) -> Self {
        let mut settings = ReplaySettings::default();
        settings.log.events = Some(events.into());
        settings.log.tasks = Some(tasks.into());
        Self::with(settings)
    }

    /// Creates a replay with these settings, which must name the input files.
    pub fn with(settings: ReplaySettings) -> Self {
        Replay {
            settings,
            given: None,
            objective: None,
            solver: None,
            search: None,
            observer: &Unobserved,
        }
    }

    /// Sets the forward window in seconds. By default, it is chosen from the log and the tasks.
    pub fn t_fwd(self, seconds: f64) -> Self {
        self.rule(|rules| rules.t_fwd = TFwd::Seconds(seconds))
    }

    /// Sets the maximum number of concurrently active tasks (default: 10).
    pub fn max_tasks(self, count: usize) -> Self {
        self.rule(|rules| rules.max_tasks = count)
    }

    /// Sets the objective by its name or by an expression such as `"rate / left"` (docs/OBJECTIVES.md).
    ///
    /// # Errors
    /// The text is neither a name nor a valid expression.
    pub fn objective(self, text: &str) -> Result<Self> {
        let objective: Objective = text
            .parse()
            .map_err(|fault| Error::Usage(format!("the objective {text:?}: {fault}")))?;
        Ok(self.rule(|rules| rules.objective = objective))
    }

    /// Sets the objective to a function of a task and its number of nodes. The function is called once for each point
    /// of the task's scaling curve that the task can use. Values between these points are interpolated. In results, the
    /// function is called `name`.
    pub fn objective_fn(
        mut self,
        name: &str,
        value: impl Fn(&TrainingTask, u32) -> f64 + Send + 'a,
    ) -> Self {
        self.objective = Some((name.to_owned(), Box::new(value)));
        self
    }

    /// Sets the rule for the initial assignment of idle nodes (default: random).
    pub fn initial(self, initial: Initial) -> Self {
        self.rule(|rules| rules.initial = initial)
    }

    /// Sets the rule that decides which free nodes a growing task gets (default: neighbouring nodes,
    /// [`NodeRule::Blocks`]).
    pub fn node_choice(self, rule: NodeRule) -> Self {
        self.rule(|rules| rules.node_choice = rule)
    }

    /// Sets the seed of all random draws (default: 0).
    pub fn seed(self, seed: u64) -> Self {
        self.rule(|rules| rules.seed = seed)
    }

    /// Submits the set of tasks repeatedly until the log ends.
    pub fn repeat_tasks(self) -> Self {
        self.rule(|rules| rules.repeat_tasks = true)
    }

    /// Also computes an upper bound on the work of any allocator. The computation can take minutes.
    pub fn bound(self) -> Self {
        self.rule(|rules| rules.bound = true)
    }

    /// Changes rules of the replay for which there is no dedicated method.
    pub fn rule(mut self, set: impl FnOnce(&mut Rules)) -> Self {
        set(&mut self.settings.log.rules);
        self
    }

    /// Sets the solver by its name: `exact`, `highs`, `cbc`, `equal-share`, or `exec:COMMAND` for a program
    /// (docs/SOLVERS.md). The default, `auto`, uses `exact` if that solver accepts the problem, and a MILP solver
    /// otherwise.
    ///
    /// # Errors
    /// The name is unknown, or the command is invalid.
    pub fn solver(mut self, name: &str) -> Result<Self> {
        self.settings.solver.solver = name.parse()?;
        Ok(self)
    }

    /// Sets a function that solves each problem. The function returns the next number of nodes of each task, or `None`
    /// if it finds no plan. Its answers are validated like those of a solver program. In results, the function is
    /// called `name`.
    pub fn solver_fn(
        mut self,
        name: &str,
        mut solve: impl FnMut(&Problem) -> Option<Vec<u32>> + Send + 'static,
    ) -> Self {
        let ask = move |problem: &Problem, _: &Limits| {
            Some(FunctionPlan {
                counts: solve(problem)?,
                is_called_optimal: false,
            })
        };
        let solver = FunctionSolver::new(name.to_owned(), String::new(), self.big_m(), ask);
        let tally = solver.tally();
        self.solver = Some((Box::new(solver), tally));
        self
    }

    /// Sets the search whose trials train the tasks. It replaces a search in the task file.
    pub fn search(mut self, search: impl Searcher + Send + 'a) -> Self {
        self.search = Some(Box::new(search));
        self
    }

    /// Sets the observer, which receives remarks and progress, and can stop the replay.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    fn big_m(&self) -> BigM {
        self.settings.solver.big_m
    }

    /// Reads the inputs and runs the replay.
    ///
    /// # Errors
    /// A setting or an input is invalid, or the solver fails. A stopped replay is not an error: its summary is marked
    /// as incomplete.
    pub fn run(self) -> Result<Replayed> {
        self.open()?.run().map_err(|failed| failed.error)
    }

    /// Reads and checks the inputs.
    ///
    /// # Errors
    /// A setting or an input is invalid.
    pub fn open(self) -> Result<OpenedReplay<'a>> {
        let clock = Instant::now();
        let ReplaySettings {
            log, skip_invalid, ..
        } = &self.settings;
        self.settings.check()?;
        // This call only reports a faulty manifest of a solver before any other input is read.
        self.settings.solver.choice()?;
        let mut inputs = match self.given {
            Some((events, tasks)) => {
                gleaner_setup::Replay::of(events, tasks, &log.rules, *skip_invalid, self.observer)?
            }
            None => gleaner_setup::Replay::open(log, *skip_invalid, self.observer)?,
        };
        self.observer.inform(&inputs.notes);
        if let Some((name, value)) = &self.objective {
            let mut value = |task: &TrainingTask, nodes| Ok(value(task, nodes));
            objective::set_objectives(&mut inputs.tasks, &mut value)?;
            inputs.options.objective = Objective::of_function(name);
        }
        let seconds = Seconds {
            read: clock.elapsed().as_secs_f64(),
            ..Seconds::default()
        };
        Ok(OpenedReplay {
            inputs,
            settings: self.settings,
            solver: self.solver,
            search: self.search,
            observer: self.observer,
            failing: FailingProblems::default(),
            seconds,
        })
    }
}

/// A replay whose inputs have been read.
pub struct OpenedReplay<'a> {
    /// The log, the tasks and the options.
    pub inputs: gleaner_setup::Replay,
    /// The settings.
    pub settings: ReplaySettings,
    /// A solver that replaces the solver in the settings.
    pub solver: Option<OwnSolver>,
    /// A search that replaces the search in the task file.
    pub search: Option<OwnSearch<'a>>,
    observer: &'a dyn Observer,
    failing: FailingProblems,
    seconds: Seconds,
}

impl<'a> OpenedReplay<'a> {
    /// Replays the tasks.
    ///
    /// # Errors
    /// A setting or the script is invalid, or the solver fails.
    pub fn run(mut self) -> Result<Replayed, FailedReplay> {
        let failing = self.failing.clone();
        self.replay()
            .map(|(outcome, tally)| Replayed {
                inputs: self.inputs,
                outcome,
                tally,
                failing: self.failing,
                arguments: self.settings,
                seconds: self.seconds,
            })
            .map_err(|error| FailedReplay { error, failing })
    }

    fn replay(&mut self) -> Result<(Outcome, Option<TallyHandle>)> {
        let repeats = self.settings.log.rules.repeat_tasks;
        if self.settings.scripted.is_some() && (self.solver.is_some() || repeats) {
            let message =
                "--scripted defines the allocations: leave out the solver and --repeat-tasks";
            return Err(Error::Usage(message.into()));
        }
        if self.search.is_some() {
            self.check_search()?;
        }
        let clock = Instant::now();
        let (mut decider, tally) = self.decider()?;
        if self.settings.scripted.is_some() {
            // Event 0 of the script is the initial assignment, and its other events are rows of the log. The script
            // names individual nodes, so the choice of nodes has no effect.
            let options = &mut self.inputs.options;
            options.initial = Initial::Solve;
            options.node_choice = NodeRule::Arrival;
            options.completion_events = false;
        }
        report_left_out(&self.inputs.skipped, self.observer);
        self.seconds.read += clock.elapsed().as_secs_f64();

        let clock = Instant::now();
        let inputs = &self.inputs;
        let own = Own {
            search: self
                .search
                .take()
                .map(|search| -> Box<dyn Searcher> { search }),
            ..Own::default()
        };
        let outcome = gleaner_replay::run_with(
            &inputs.log,
            &inputs.tasks,
            &inputs.options,
            decider.as_mut(),
            own,
            self.observer,
        )?;
        self.seconds.compute = clock.elapsed().as_secs_f64();
        Ok((outcome, tally))
    }

    /// Checks that the trials of the caller's search can train the tasks.
    fn check_search(&self) -> Result<()> {
        let inputs = &self.inputs;
        let endless = inputs.tasks.iter().find(|task| task.is_endless());
        let why = if self.settings.scripted.is_some() {
            "--scripted defines the allocations: leave out the search".to_owned()
        } else if inputs.options.repeat_tasks {
            "a search decides when tasks start: leave out --repeat-tasks".to_owned()
        } else if inputs.tasks.is_empty() {
            "a search needs at least one task that its trials can train".to_owned()
        } else if let Some(task) = endless {
            format!(
                "task {} is endless, but a search trains it: specify its work, which is the work of a complete training",
                task.name
            )
        } else {
            return Ok(());
        };
        Err(Error::Usage(why))
    }

    /// The decider and, if it is a solver, the counts of its answers.
    fn decider(&mut self) -> Result<(Box<dyn Decider>, Option<TallyHandle>)> {
        if let Some(path) = &self.settings.scripted {
            let script = gleaner_inputs::script::read(path, &self.inputs.log)?;
            self.inputs.sources.extend(script.sources);
            return Ok((Box::new(script.value), None));
        }
        let limits = self.settings.solver.limits()?;
        let (decider, tally) = match self.solver.take() {
            Some((solver, tally)) => (SolverDecider::of(solver, limits), tally),
            None => self.named(limits)?,
        };
        let decider = if self.settings.check {
            decider.checked(self.settings.solver.big_m)
        } else {
            decider
        };
        let witness = Witness {
            decider,
            tally: tally.clone(),
            failing: self.failing.clone(),
        };
        Ok((Box::new(witness), Some(tally)))
    }

    /// Builds the solver that the settings name.
    fn named(&mut self, limits: Limits) -> Result<(SolverDecider, TallyHandle)> {
        let args = &self.settings.solver;
        let choice = args.choice()?;
        let mut solver = args.build(&choice)?;
        solver.stop_when(self.observer.stop());
        let tally = solver.tally();
        if let SolverChoice::Program(command) = &choice {
            let files = command.files();
            let identified = files
                .iter()
                .map(|path| gleaner_io::source::Source::identify(path));
            let identified = identified.collect::<Result<Vec<SourceId>>>()?;
            self.inputs.sources.extend(identified);
        }
        let gleaner_setup::Replay {
            log,
            tasks,
            options,
            ..
        } = &self.inputs;
        let decider = solver.decider(options, log, tasks, limits)?;
        Ok((decider, tally))
    }
}

/// A replay that failed.
#[derive(Debug)]
pub struct FailedReplay {
    /// The reason for the failure.
    pub error: Error,
    failing: FailingProblems,
}

impl FailedReplay {
    /// Returns the error. If a faulty answer of the solver caused the error, first writes the problem to a file in
    /// `directory` and marks the directory incomplete. The error then names the file.
    pub fn keep(self, directory: Option<RunDir>) -> Error {
        self.failing.keep(self.error, directory)
    }
}

/// A finished or stopped replay.
pub struct Replayed {
    /// The log, the tasks and the options.
    pub inputs: gleaner_setup::Replay,
    /// The tables and the summary.
    pub outcome: Outcome,
    /// Counts of the solver's answers; `None` if there was no solver.
    pub tally: Option<TallyHandle>,
    /// Wall time so far.
    pub seconds: Seconds,
    failing: FailingProblems,
    arguments: ReplaySettings,
}

impl Replayed {
    /// The figures of the replay.
    pub fn summary(&self) -> &Summary {
        &self.outcome.summary
    }

    /// Summarises the results of the replay for the provider of the machine. The text completes a sentence that begins
    /// with "The replay is".
    pub fn meaning(&self) -> String {
        gleaner_runs::summary::meaning(&self.outcome.summary, &self.outcome.tasks)
    }

    /// Writes the run directory `path`, with `run.json`, `summary.json` and the tables as CSV and Parquet.
    /// `gleaner report` and `gleaner check` read this directory. Returns a line that describes its contents.
    ///
    /// # Errors
    /// The directory contains other files, or a file cannot be written.
    pub fn write(&mut self, path: impl AsRef<Path>) -> Result<String> {
        let directory = RunDir::open(path.as_ref(), "replay", &self.arguments)?;
        self.write_to(directory)
    }

    /// Writes into an open run directory.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_to(&mut self, directory: RunDir) -> Result<String> {
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

    /// A remark on the problems to which the solver gave faulty answers; empty if there are none. The remark names the
    /// file in `out` that contains these problems or, if `out` is `None`, states how to keep them.
    pub fn faulty_problems(&self, out: Option<&Path>) -> Vec<String> {
        self.failing.remark(out)
    }

    /// Reports the faults in the solver's answers as remarks.
    ///
    /// # Errors
    /// There are faults, and the settings are strict.
    pub fn report_faults(&self, observer: &dyn Observer) -> Result<()> {
        report_faults(self.tally.as_ref(), self.arguments.solver.strict, observer)
    }
}
