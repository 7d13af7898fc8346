//! Settings of the solver.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gleaner_classes::any::{PlanObserver, solve_classes, solve_one_class};
use gleaner_classes::{AnyAnswer, AnyProblem, AnySolver, ClassSolver};
use gleaner_exec_solver::{Counted, External, TallyHandle};
use gleaner_replay::{Options, SolverDecider};
use gleaner_solvers::{BigM, Formulation, Limits, Problem, SolveError, Solver, SolverSpec};
use serde::Serialize;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{EventLog, TrainingTask};

use crate::settings;
use crate::settings::value::named_values;
use crate::settings::{Settings, Spec};
use crate::solver_choice::{SolverChoice, SolverName};

settings! {
    /// The solver and its limits.
    #[derive(Debug, Clone, Serialize)]
    pub struct SolverArgs under "Solver" {
        /// Solver that makes the decisions.
        pub solver: SolverName = SolverName::default() => Spec::of("NAME");
        /// Formulation of the problem for highs and cbc [default: counts].
        pub formulation: Option<Formulation> = None => Spec::of("NAME");
        /// Big-M constant, which limits by how many nodes a task can grow or shrink in one decision. The exact solver
        /// also applies these limits.
        pub big_m: BigM = BigM::default() => Spec::of("NAME");
        /// Time limit for one decision of highs, cbc, a program, or the exact solver for node classes, in seconds
        /// (-optTL).
        pub time_limit: f64 = TIME_LIMIT => time_limit();
        /// Relative gap at which highs and cbc consider a plan optimal.
        pub gap: f64 = GAP => gap();
        /// Exit with 1 if a solver program gave an invalid answer, timed out or crashed. Faults are always reported.
        pub strict: bool = false => Spec::flag();
    }
}

/// Default of the time limit, in seconds.
pub const TIME_LIMIT: f64 = 10.0;

/// Default of the relative gap.
pub const GAP: f64 = 1e-9;

/// Declares a time limit in seconds, with its range.
pub fn time_limit() -> Spec<f64> {
    let is_time = |seconds: &f64| Duration::try_from_secs_f64(*seconds).is_ok();
    Spec::of("SECONDS").within("a number of seconds, at least 0", is_time)
}

/// Declares a relative gap, with its range.
pub fn gap() -> Spec<f64> {
    Spec::of("GAP").within("at least 0 and below 1", |gap| (0.0..1.0).contains(gap))
}

named_values!(Formulation:
    Formulation::Counts =>
        "A binary variable for each task and number of nodes: a multiple-choice knapsack",
    Formulation::Paper => "The model of the BFTrainer paper, over pairs of tasks and nodes",
);

named_values!(BigM:
    BigM::Corrected => "Large enough to allow every change",
    BigM::Paper => "N + 1, as in the paper, where N is the number of idle nodes: forbids large changes",
);

impl SolverArgs {
    /// Builds the solver that [`SolverArgs::choice`] returned. Starts the solver if it is a program.
    ///
    /// # Errors
    /// A formulation is given for a solver that uses none, this build lacks the solver, or a program does not start.
    pub fn build(&self, choice: &SolverChoice) -> Result<Built> {
        if self.formulation.is_some() && !self.solver.is_milp() {
            return Err(Error::Usage(
                "--formulation is only valid with --solver highs or cbc".into(),
            ));
        }
        Built::new(choice, self.formulation.unwrap_or_default(), self.big_m)
    }

    /// The chosen solver. Paths in the command of a program are relative to the current directory.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the manifest of a program is faulty.
    pub fn choice(&self) -> Result<SolverChoice> {
        let found = self.solver.seen_from(Path::new(""));
        found.map_err(|error| Error::Usage(format!("--solver {}: {error}", self.solver)))
    }

    /// The limits that the settings specify.
    ///
    /// # Errors
    /// A limit is out of range.
    pub fn limits(&self) -> Result<Limits> {
        self.check()?;
        limits(self.time_limit, self.gap)
    }
}

/// Creates limits from a time in seconds and a relative gap, which must be in range.
///
/// # Errors
/// The time is not a valid duration.
pub fn limits(time_limit: f64, gap: f64) -> Result<Limits> {
    let time = Duration::try_from_secs_f64(time_limit)
        .map_err(|error| Error::Usage(format!("--time-limit is {time_limit}: {error}")))?;
    Ok(Limits { time, gap })
}

/// A solver that is ready for use.
pub enum Built {
    /// A built-in solver.
    Ours(Box<Ours>),
    /// A running program.
    Program(Box<External>),
}

/// A built-in solver.
pub struct Ours {
    spec: SolverSpec,
    solver: Counted,
    /// The solver for problems with node classes, built when it is first used.
    class_solver: Option<Box<dyn ClassSolver + Send>>,
    stop: Arc<AtomicBool>,
}

impl Built {
    /// Builds a solver. Starts the solver if it is a program.
    ///
    /// # Errors
    /// This build lacks the solver, or a program does not start.
    pub fn new(choice: &SolverChoice, formulation: Formulation, big_m: BigM) -> Result<Self> {
        match choice {
            SolverChoice::Ours(kind) => {
                let spec = SolverSpec {
                    kind: *kind,
                    formulation,
                    big_m,
                };
                Ok(Built::Ours(Box::new(Ours {
                    spec,
                    solver: Counted::new(spec.build()?),
                    class_solver: None,
                    stop: Arc::default(),
                })))
            }
            SolverChoice::Program(command) => {
                let program = External::start(command.clone(), big_m)?;
                Ok(Built::Program(Box::new(program)))
            }
        }
    }

    /// Checks that the solver accepts the problem, without solving it.
    ///
    /// # Errors
    /// The solver does not accept the problem. The error is the one that [`AnySolver::solve_any`] would return.
    pub fn accepts(&self, problem: &AnyProblem) -> Result<(), SolveError> {
        match problem {
            AnyProblem::OneClass(problem) => self.accepts_one_class(problem),
            AnyProblem::Classes(problem) => match self {
                Built::Ours(ours) => gleaner_classes::solver::accepts(ours.spec, problem),
                Built::Program(program) => program.accepts_classes(!problem.groups.is_empty()),
            },
        }
    }

    fn accepts_one_class(&self, problem: &Problem) -> Result<(), SolveError> {
        match self {
            Built::Ours(ours) => ours.spec.accepts(problem),
            Built::Program(program) => program.accepts(problem),
        }
    }

    /// Name of the solver for problems like `problem`, with or without node classes. If a solver is chosen for each
    /// problem, the name is that of the solver chosen last.
    pub fn name(&self, problem: &AnyProblem) -> &str {
        match self {
            Built::Ours(ours) => match (&ours.class_solver, problem) {
                (Some(solver), AnyProblem::Classes(_)) => solver.name(),
                _ => ours.solver.name(),
            },
            Built::Program(program) => Solver::name(program.as_ref()),
        }
    }

    /// A handle to the tally of the solver's answers (of a built-in solver: without problems with node classes). The
    /// handle stays valid after the solver is dropped.
    pub fn tally(&self) -> TallyHandle {
        match self {
            Built::Ours(ours) => ours.solver.tally(),
            Built::Program(program) => program.tally(),
        }
    }

    /// Makes the solver stop soon after `stop` is set, even while it solves a problem.
    pub fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        match self {
            Built::Ours(ours) => {
                ours.solver.stop_when(stop);
                ours.stop = Arc::clone(stop);
                ours.class_solver = None;
            }
            Built::Program(program) => Solver::stop_when(program.as_mut(), stop),
        }
    }

    /// Turns the solver into a decider for the replay of `tasks` on `log` with these options. If the replay
    /// distinguishes classes of nodes, the decider uses the solver of the same name for node classes.
    ///
    /// # Errors
    /// The solver does not accept the replay's problems, or the options do not support classes.
    pub fn decider(
        self,
        options: &Options,
        log: &EventLog,
        tasks: &[TrainingTask],
        limits: Limits,
    ) -> Result<SolverDecider> {
        if options.classes(log, tasks)?.is_some() {
            return self.class_decider(!options.groups.is_empty(), limits);
        }
        let outline = options.outline(tasks);
        self.accepts_one_class(&outline)?;
        match self {
            Built::Ours(ours) => {
                let Ours { spec, solver, .. } = *ours;
                let spec = spec.for_problem(&outline);
                let solver = solver.replaced_by(spec.build()?);
                Ok(SolverDecider::by(spec, Box::new(solver), limits))
            }
            Built::Program(program) => Ok(SolverDecider::of(program, limits)),
        }
    }

    /// Turns the solver into a decider for nodes of several classes.
    fn class_decider(self, has_groups: bool, limits: Limits) -> Result<SolverDecider> {
        match self {
            Built::Ours(ours) => {
                let spec = gleaner_classes::solver::chosen(ours.spec, has_groups);
                let mut solver = gleaner_classes::solver::build(spec)?;
                solver.stop_when(&ours.stop);
                Ok(SolverDecider::in_classes_by(spec, solver, limits))
            }
            Built::Program(program) => {
                program.accepts_classes(has_groups)?;
                Ok(SolverDecider::in_classes(program, limits))
            }
        }
    }
}

impl Ours {
    /// The solver for problems with node classes, which is built when it is first used.
    ///
    /// # Errors
    /// The solver does not support node classes.
    fn class_solver(&mut self) -> Result<&mut (dyn ClassSolver + Send), SolveError> {
        let solver = match self.class_solver.take() {
            Some(solver) => solver,
            None => {
                let mut solver = gleaner_classes::solver::build(self.spec)?;
                solver.stop_when(&self.stop);
                solver
            }
        };
        Ok(self.class_solver.insert(solver).as_mut())
    }
}

impl AnySolver for Built {
    fn solve_any(
        &mut self,
        problem: &AnyProblem,
        limits: &Limits,
        observer: Option<PlanObserver<'_>>,
    ) -> Result<AnyAnswer, SolveError> {
        match (self, problem) {
            (Built::Program(program), problem) => program.solve_any(problem, limits, observer),
            (Built::Ours(ours), AnyProblem::OneClass(problem)) => {
                solve_one_class(&mut ours.solver, problem, limits, observer)
            }
            (Built::Ours(ours), AnyProblem::Classes(problem)) => {
                solve_classes(ours.class_solver()?, problem, limits, observer)
            }
        }
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        Built::stop_when(self, stop);
    }
}

/// Reports the faults in a program's answers.
///
/// # Errors
/// Returns [`Error::Run`] if there are faults and `strict` is set.
pub fn report_faults(
    tally: Option<&TallyHandle>,
    strict: bool,
    observer: &dyn Observer,
) -> Result<()> {
    let Some(told) = tally.and_then(|tally| tally.get().remark()) else {
        return Ok(());
    };
    if strict {
        Err(Error::Run(told))
    } else {
        observer.remark(&[told]);
        Ok(())
    }
}
