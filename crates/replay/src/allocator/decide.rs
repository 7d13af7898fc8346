//! Deciders make the allocation decisions. A decider uses a solver or follows a script.

use std::time::Instant;

use gleaner_solvers::{
    Allocation, BigM, Formulation, Limits, Problem, SolveError, Solver, SolverKind, SolverSpec,
    Status, check,
};

use super::minimums;
use gleaner_classes::{self as classes, ClassSolver, Held};
use gleaner_domain::Script;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::replay::StepStatus;

/// The decision at one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The next allocation.
    pub plan: Plan,
    /// The plan's status, for the table of steps.
    pub status: StepStatus,
    /// Relative gap between the plan's objective and the optimum, if known.
    pub gap: Option<f64>,
    /// Wall time of the solver, in microseconds.
    pub micros: u64,
    /// Whether any group could not get its minimum number of nodes.
    pub is_short: bool,
    /// See [`Answer::prices`](super::Answer::prices).
    pub prices: Vec<f64>,
}

impl Decision {
    /// A decision that no solver made.
    pub(crate) fn unsolved(plan: Plan, status: StepStatus) -> Self {
        Decision {
            plan,
            status,
            gap: None,
            micros: 0,
            is_short: false,
            prices: Vec::new(),
        }
    }
}

/// The allocation that a decision chooses.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// Every task keeps its nodes, at no cost.
    Keep,
    /// If all nodes are interchangeable: the next number of nodes of each active task, in order. The engine chooses the
    /// nodes.
    Counts(Vec<u32>),
    /// If the nodes are of several classes: the class and the number of nodes that each active task holds next, in
    /// order. The engine chooses the nodes.
    InClasses(Vec<Option<Held>>),
    /// The nodes that each active task holds next, in order.
    Nodes(Vec<Vec<u32>>),
}

/// Decides on the next allocation at an event. A decider does not change the allocator's state.
pub trait Decider {
    /// The decider's name in the table of steps.
    fn name(&self) -> &str;

    /// Name of the formulation that the decider passes to a MILP solver; `None` if it does not use a MILP solver.
    fn formulation(&self) -> Option<&str> {
        None
    }

    /// The last event at which the decider can decide; `None` if there is no limit. The replay ends
    /// before the first later event that requires a decision.
    fn last_event(&self) -> Option<usize> {
        None
    }

    /// The error for a plan that cannot be carried out at event `event`. `what` is the fault in the plan for task
    /// `task`, such as "moves to other nodes".
    fn impossible(&self, event: usize, task: &str, what: &str) -> Error {
        Error::Run(format!(
            "the plan of {} at event {event}: task {task} {what}",
            self.name()
        ))
    }

    /// Makes the decision at event `event`. The tasks of `problem` are the active tasks, in order. The problem's id
    /// contains the event and its time.
    ///
    /// # Errors
    /// The solver or the script fails. The replay then stops.
    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision>;

    /// Like [`Decider::decide`], but with nodes of several classes.
    ///
    /// # Errors
    /// The solver or the script fails, or the decider does not support classes ([`Error::Usage`]).
    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        let _ = (event, problem);
        Err(no_classes(self.name()))
    }
}

/// The solver of a decider.
enum Backend {
    /// A solver for interchangeable nodes.
    Alike(Box<dyn Solver + Send>),
    /// A solver for nodes of several classes.
    InClasses(Box<dyn ClassSolver + Send>),
}

/// A decider that uses a solver.
pub struct SolverDecider {
    solver: Backend,
    formulation: Option<Formulation>,
    limits: Limits,
    /// Whether a feasible plan is applied even if it does not improve on the current allocation. True for
    /// the heuristic, which never proves optimality.
    always_apply: bool,
    /// The bound on changes (big-M) that the check of an answer applies; `None` if answers are not checked.
    checked: Option<BigM>,
}

impl SolverDecider {
    /// Creates a decider that uses the solver specified by `spec`. Do not pass `auto`: pass the solver that `auto`
    /// chooses ([`SolverSpec::for_problem`]), so that tables name that solver.
    ///
    /// # Errors
    /// This build does not include the solver.
    pub fn new(spec: SolverSpec, limits: Limits) -> Result<Self> {
        Ok(Self::by(spec, spec.build()?, limits))
    }

    /// Like [`SolverDecider::new`], but with a solver that is already built from `spec`.
    pub fn by(spec: SolverSpec, solver: Box<dyn Solver + Send>, limits: Limits) -> Self {
        SolverDecider {
            always_apply: spec.kind == SolverKind::EqualShare,
            formulation: spec.kind.is_milp().then_some(spec.formulation),
            ..Self::of(solver, limits)
        }
    }

    /// Creates a decider that uses `solver`, which can be any implementation of [`Solver`].
    pub fn of(solver: Box<dyn Solver + Send>, limits: Limits) -> Self {
        Self::with(Backend::Alike(solver), limits)
    }

    /// Like [`SolverDecider::of`], but for nodes of several classes.
    pub fn in_classes(solver: Box<dyn ClassSolver + Send>, limits: Limits) -> Self {
        Self::with(Backend::InClasses(solver), limits)
    }

    /// Like [`SolverDecider::by`], but for nodes of several classes.
    pub fn in_classes_by(
        spec: SolverSpec,
        solver: Box<dyn ClassSolver + Send>,
        limits: Limits,
    ) -> Self {
        SolverDecider {
            always_apply: spec.kind == SolverKind::EqualShare,
            formulation: spec.kind.is_milp().then_some(Formulation::Counts),
            ..Self::in_classes(solver, limits)
        }
    }

    fn with(solver: Backend, limits: Limits) -> Self {
        SolverDecider {
            solver,
            formulation: None,
            limits,
            always_apply: false,
            checked: None,
        }
    }

    /// Makes the decider check every answer of the solver, with `big_m` as the bound on changes. The checker shares no
    /// code with the solvers.
    pub fn checked(self, big_m: BigM) -> Self {
        SolverDecider {
            checked: Some(big_m),
            ..self
        }
    }

    /// Checks that an answer can be carried out and, if requested, that it meets all constraints.
    fn check(&self, problem: &Problem, answer: &Allocation) -> Result<()> {
        let verdict = self.checked.map(|big_m| check(problem, answer, big_m));
        let verdict = verdict.unwrap_or(Ok(()));
        verdict.map_err(|violations| self.rejected(&problem.id, &violations))?;
        let Some(counts) = &answer.counts else {
            return Ok(());
        };
        let (found, tasks) = (counts.len(), problem.tasks.len());
        if found != tasks {
            let what = format!("has {found} counts, expected one for each of {tasks} tasks");
            return Err(self.failed(&problem.id, &what));
        }
        let used: u64 = counts.iter().copied().map(u64::from).sum();
        if used > problem.nodes.into() {
            let what = format!("uses {used} nodes, expected at most {}", problem.nodes);
            return Err(self.failed(&problem.id, &what));
        }
        Ok(())
    }

    /// The error for an answer that the check rejects. `problem` is the id of the problem.
    fn rejected(&self, problem: &str, violations: &[impl ToString]) -> Error {
        let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
        self.failed(problem, &format!("fails the check: {}", all.join("; ")))
    }

    /// The error for an answer that cannot be used. `problem` is the id of the problem.
    fn failed(&self, problem: &str, what: &str) -> Error {
        let name = self.name();
        Error::Run(format!("the answer of {name} at {problem}, {what}"))
    }
}

/// The error for a solver that fails on a problem. Unless the problem is invalid or another solver must be chosen, the
/// error contains the problem's id, which states the event and its time.
fn unsolved(solver: &str, problem: &str, error: SolveError) -> Error {
    match error {
        SolveError::Invalid(_) => error.into(),
        error if error.is_wrong_choice() => error.into(),
        error => Error::Run(format!("{solver} at {problem}: {error}")),
    }
}

impl Decider for SolverDecider {
    fn name(&self) -> &str {
        match &self.solver {
            Backend::Alike(solver) => solver.name(),
            Backend::InClasses(solver) => solver.name(),
        }
    }

    fn formulation(&self) -> Option<&str> {
        self.formulation.map(Formulation::as_str)
    }

    fn decide(&mut self, _: usize, problem: &Problem) -> Result<Decision> {
        let Backend::Alike(solver) = &mut self.solver else {
            let name = self.name();
            return Err(Error::Run(format!(
                "{name} supports only problems with node classes"
            )));
        };
        let start = Instant::now();
        let solved = minimums::solve(problem, solver.as_mut(), &self.limits)
            .map_err(|error| unsolved(solver.name(), &problem.id, error))?;
        let micros = start.elapsed().as_micros() as u64;
        let answer = solved.answer;
        self.check(&solved.problem, &answer)?;
        let gap = answer.gap();
        let better = |counts: &Vec<u32>| problem.merit(counts) > problem.merit_of_keeping();
        let (plan, status) = match (answer.status, answer.counts) {
            (Status::Optimal, Some(counts)) => (Plan::Counts(counts), StepStatus::Optimal),
            (Status::Feasible, Some(counts)) if self.always_apply || better(&counts) => {
                (Plan::Counts(counts), StepStatus::Feasible)
            }
            _ => (Plan::Keep, StepStatus::Kept),
        };
        Ok(Decision {
            plan,
            status,
            gap: gap.filter(|_| status != StepStatus::Kept),
            micros,
            is_short: solved.is_short,
            prices: Vec::new(),
        })
    }

    fn decide_in_classes(&mut self, _: usize, problem: &classes::Problem) -> Result<Decision> {
        let Backend::InClasses(solver) = &mut self.solver else {
            return Err(no_classes(self.name()));
        };
        let start = Instant::now();
        let solved = minimums::solve(problem, solver.as_mut(), &self.limits)
            .map_err(|error| unsolved(solver.name(), &problem.id, error))?;
        let micros = start.elapsed().as_micros() as u64;
        let answer = solved.answer;
        if self.checked.is_some() {
            classes::check(&solved.problem, &answer)
                .map_err(|violations| self.rejected(&problem.id, &violations))?;
        }
        let gap = answer.gap();
        let better = |answer: &classes::Answer| answer.objective > Some(problem.value_of_keeping());
        let (plan, status) = match (answer.status, answer.plan.is_some()) {
            (Status::Optimal, true) => (answer.plan, StepStatus::Optimal),
            (Status::Feasible, true) if self.always_apply || better(&answer) => {
                (answer.plan, StepStatus::Feasible)
            }
            _ => (None, StepStatus::Kept),
        };
        Ok(Decision {
            plan: plan.map_or(Plan::Keep, Plan::InClasses),
            status,
            gap: gap.filter(|_| status != StepStatus::Kept),
            micros,
            is_short: solved.is_short,
            prices: answer.prices,
        })
    }
}

/// The error for a decider that does not support nodes of several classes.
fn no_classes(name: &str) -> Error {
    Error::Usage(format!(
        "{name} does not support node classes: use --solver exact, highs, cbc or equal-share"
    ))
}

/// A decider that follows a script.
impl Decider for Script {
    fn name(&self) -> &str {
        "scripted"
    }

    fn last_event(&self) -> Option<usize> {
        self.events.keys().next_back().copied()
    }

    fn impossible(&self, event: usize, task: &str, what: &str) -> Error {
        let expected = "tasks that keep their nodes or take idle nodes that no task holds";
        fault(self, event, format!("task {task} {what}"), expected)
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let tasks = problem.tasks.iter().map(|task| &task.name);
        scripted(self, event, tasks)
    }

    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        let tasks = problem.tasks.iter().map(|task| &task.name);
        scripted(self, event, tasks)
    }
}

/// The script's plan for an event with these active tasks.
fn scripted<'t>(
    script: &Script,
    event: usize,
    tasks: impl Iterator<Item = &'t String> + Clone,
) -> Result<Decision> {
    let Some(given) = script.events.get(&event) else {
        return Err(fault(
            script,
            event,
            "no line",
            "one line for each event with idle nodes and tasks",
        ));
    };
    let is_active = |name: &String| tasks.clone().any(|task| task == name);
    let mut given_nodes = given.iter().filter(|(_, nodes)| !nodes.is_empty());
    if let Some(stranger) = given_nodes.find(|(name, _)| !is_active(name)) {
        return Err(fault(
            script,
            event,
            format!("nodes for {}", stranger.0),
            "tasks active at that event",
        ));
    }
    let nodes = tasks.map(|task| given.get(task).cloned().unwrap_or_default());
    let plan = Plan::Nodes(nodes.collect());
    Ok(Decision::unsolved(plan, StepStatus::Scripted))
}

/// The error for a fault in the script's plan for an event.
fn fault(script: &Script, event: usize, found: impl Into<String>, expected: &str) -> Error {
    Fault {
        file: script.file.clone(),
        place: format!("event {event}"),
        found: found.into(),
        expected: expected.into(),
        remedy: "replay the script with the log slice, tasks and --max-tasks that it was made for"
            .into(),
        ..Fault::default()
    }
    .into()
}
