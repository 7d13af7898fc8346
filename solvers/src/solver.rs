//! The interface of all solvers: the trait, the limits, and the choice of a backend by name.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{Allocation, Goal, Problem, backends, formulations};

/// The limits at which a solver must stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock limit for one solve.
    pub time: Duration,
    /// Relative gap at which a plan counts as optimal.
    pub gap: f64,
}

impl Default for Limits {
    /// 10 s, like `-optTL` in the original replayer, and a gap of 1e-9.
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(10),
            gap: 1e-9,
        }
    }
}

/// The big-M of the MILP formulations, which may cap the change of a task's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BigM {
    /// A big-M that is large enough not to limit changes.
    #[default]
    Corrected,
    /// N + 1, as in the original replayer. This value forbids changes of more than (N + 1) / 2 nodes, and makes a
    /// problem infeasible if the minimum of a task exceeds N + 1.
    Paper,
}

impl BigM {
    /// Maximum number of nodes by which a task's count may change if `nodes` are idle.
    pub fn change_cap(self, nodes: u32) -> u32 {
        match self {
            BigM::Corrected => u32::MAX,
            // ⌊(N + 1) / 2⌋ without overflow.
            BigM::Paper => nodes / 2 + nodes % 2,
        }
    }

    /// Whether a task with this minimum has no allowed next count, not even 0, if `nodes` are idle. In this case, the
    /// original's rows for the minimum cannot be satisfied with M = N + 1.
    pub fn shuts_out(self, nodes: u32, min_nodes: u32) -> bool {
        self == BigM::Paper && min_nodes > nodes.saturating_add(1)
    }
}

/// A formulation of the problem as a mixed-integer linear program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formulation {
    /// One binary per task and allowed count: a multiple-choice knapsack.
    #[default]
    Counts,
    /// The paper's model over task-node pairs with big-M rows.
    Paper,
}

impl Formulation {
    /// Name of the formulation on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Formulation::Counts => "counts",
            Formulation::Paper => "paper",
        }
    }
}

/// The reason why a solver gave no answer. Infeasible problems and reached limits are not errors: the answer's
/// [`Status`](crate::Status) reports them.
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The problem has a side constraint, but the solver or formulation does not support side
    /// constraints.
    #[error(
        "{solver} does not support side constraints (group {group}): \
         use auto, or highs or cbc with the counts formulation"
    )]
    SideConstraint {
        /// The solver that rejected the problem, such as `the equal-share solver`.
        solver: &'static str,
        /// Name of the problem's first group.
        group: String,
    },
    /// Two groups of the problem cross (see [`Problem::crossing_groups`]).
    #[error(
        "the exact solver supports only nested side constraints, but the groups {first} and {second} \
         cross (they share a task, and each has a task that the other lacks): \
         use auto, or highs or cbc with the counts formulation"
    )]
    CrossingGroups {
        /// Name of the first group.
        first: String,
        /// Name of the second group.
        second: String,
    },
    /// The problem has a side constraint and a max-min goal, which the exact solver does not support
    /// together.
    #[error(
        "the exact solver does not support side constraints (group {group}) with the max-min goal: \
         use auto, or highs or cbc with the counts formulation"
    )]
    FairGroups {
        /// Name of the problem's first group.
        group: String,
    },
    /// The formulation cannot express the problem's max-min goal.
    #[error(
        "{solver} does not support the max-min goal of --objective share-fair: \
         use exact, or highs or cbc with the counts formulation"
    )]
    Goal {
        /// The formulation that rejected the problem, such as `the paper formulation`.
        solver: &'static str,
    },
    /// The problem is valid, but this solver or formulation cannot handle it. The string states the reason and, in some
    /// cases, what to use instead.
    #[error("{0}")]
    Unfit(String),
    /// The problem is invalid; see [`Problem::validate`].
    #[error("the problem is invalid: {}", .0.join("; "))]
    Invalid(Vec<String>),
    /// The backend was left out of this build.
    #[error(
        "this build has no {0}: rebuild with the feature {0}, \
         or use --solver exact (it supports groups only if they are nested and the goal is total)"
    )]
    NotBuilt(&'static str),
    /// The solver library failed.
    #[error("{solver} failed: {message}")]
    Backend {
        /// Backend that failed.
        solver: &'static str,
        /// The library's own message.
        message: String,
    },
}

impl SolveError {
    /// Whether another solver, or a build that includes this solver, might handle the problem. `false` means that the
    /// problem is invalid or a library failed.
    pub fn is_wrong_choice(&self) -> bool {
        match self {
            SolveError::SideConstraint { .. }
            | SolveError::CrossingGroups { .. }
            | SolveError::FairGroups { .. }
            | SolveError::Goal { .. }
            | SolveError::Unfit(_)
            | SolveError::NotBuilt(_) => true,
            SolveError::Invalid(_) | SolveError::Backend { .. } => false,
        }
    }
}

/// Name of the heuristic in messages.
pub(crate) const EQUAL_SHARE: &str = "the equal-share solver";

/// Rejects a problem that has side constraints. `solver` is the name of the solver in the error.
///
/// # Errors
/// [`SolveError::SideConstraint`], which names the first group, if the problem has groups.
pub(crate) fn refuse_groups(solver: &'static str, problem: &Problem) -> Result<(), SolveError> {
    match problem.groups.first() {
        None => Ok(()),
        Some(group) => Err(SolveError::SideConstraint {
            solver,
            group: group.name.clone(),
        }),
    }
}

/// A plan that a solver has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Incumbent {
    /// Time from the start of the solve to the discovery of the plan.
    pub after: Duration,
    /// The plan, with its objective, and with the status and bound at the time when it was found.
    pub plan: Allocation,
}

/// A solver of allocation problems.
///
/// A solver may keep buffers between calls, but its answer depends only on the problem and the
/// limits.
pub trait Solver {
    /// Name for tables and messages, such as `highs-counts`. A solver that chooses among other solvers
    /// returns the name of the solver that it used last.
    fn name(&self) -> &str;

    /// Solves `problem`. The problem must be valid ([`Problem::validate`]).
    ///
    /// An infeasible problem, a limit that is reached and a missing proof are not errors: the answer's status reports
    /// them.
    ///
    /// # Errors
    /// [`SolveError`] if the backend does not support the problem, numbers of the problem are out of
    /// [`range`](crate::range), or the library fails.
    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError>;

    /// Like [`Solver::solve`], but also passes the plans that it finds to `observer`, in the order in
    /// which it found them. The last of these plans is the plan of the answer.
    ///
    /// By default, a solver reports only the plan of its answer, at the end. A solver that finds intermediate plans
    /// overrides this function.
    ///
    /// # Errors
    /// Same as [`Solver::solve`].
    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        let clock = Instant::now();
        let answer = self.solve(problem, limits)?;
        if answer.counts.is_some() {
            observer(Incumbent {
                after: clock.elapsed(),
                plan: answer.clone(),
            });
        }
        Ok(answer)
    }

    /// Makes every later solve end soon after `stop` is set, with the best plan found so far, as if the time limit
    /// had been reached. A solver that does not override this function ignores the flag.
    fn stop_when(&mut self, _stop: &Arc<AtomicBool>) {}
}

/// The kind of a solver backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// The exact solver if it supports the problem's side constraints; otherwise HiGHS, or CBC in a build without
    /// HiGHS.
    Auto,
    /// Relaxation, reduced-cost fixing and dynamic programming, with a proof of optimality. This solver supports nested
    /// groups ([`Problem::crossing_groups`]) under the goal [`Goal::Total`], and no groups otherwise.
    Exact,
    /// HiGHS through good_lp.
    Highs,
    /// CBC through good_lp.
    Cbc,
    /// The heuristic of the original replayer: an equal quota for every task.
    EqualShare,
}

impl SolverKind {
    /// Whether the backend uses a [`Formulation`].
    pub fn is_milp(self) -> bool {
        matches!(self, SolverKind::Highs | SolverKind::Cbc)
    }
}

/// A backend, with the formulation and big-M that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverSpec {
    /// The backend that solves the problems.
    pub kind: SolverKind,
    /// The formulation that MILP backends use; other backends ignore it.
    pub formulation: Formulation,
    /// Big-M of the formulations. The exact solver respects the cap on changes that it implies.
    pub big_m: BigM,
}

impl SolverSpec {
    /// A backend with the counts formulation and the corrected big-M.
    pub fn new(kind: SolverKind) -> Self {
        SolverSpec {
            kind,
            formulation: Formulation::default(),
            big_m: BigM::default(),
        }
    }

    /// The spec of the solver that answers `problem`: for [`SolverKind::Auto`], the solver that it chooses; otherwise,
    /// this spec.
    pub fn for_problem(self, problem: &Problem) -> SolverSpec {
        if self.kind != SolverKind::Auto {
            return self;
        }
        let has_only_cbc = cfg!(all(feature = "cbc", not(feature = "highs")));
        SolverSpec {
            kind: match (backends::exact_accepts(problem).is_ok(), has_only_cbc) {
                (true, _) => SolverKind::Exact,
                (false, false) => SolverKind::Highs,
                (false, true) => SolverKind::Cbc,
            },
            formulation: Formulation::Counts,
            big_m: self.big_m,
        }
    }

    /// Checks that the solver supports problems with this goal and without side constraints.
    ///
    /// # Errors
    /// [`SolveError::Goal`] if the formulation cannot express the goal, and [`SolveError::NotBuilt`] if the solver was
    /// left out of this build.
    pub fn accepts_goal(self, goal: Goal) -> Result<(), SolveError> {
        self.accepts(&Problem {
            id: String::new(),
            nodes: 0,
            t_fwd: 1.0,
            tasks: Vec::new(),
            groups: Vec::new(),
            goal,
        })
    }

    /// Checks that the solver supports the problem, without solving it.
    ///
    /// # Errors
    /// The error that [`Solver::solve`] would return for a wrong choice of solver (see
    /// [`SolveError::is_wrong_choice`]).
    pub fn accepts(self, problem: &Problem) -> Result<(), SolveError> {
        let spec = self.for_problem(problem);
        spec.build()?;
        match spec.kind {
            SolverKind::Auto | SolverKind::Exact => backends::exact_accepts(problem),
            SolverKind::EqualShare => refuse_groups(EQUAL_SHARE, problem),
            SolverKind::Highs | SolverKind::Cbc => formulations::accepts(problem, spec.formulation),
        }
    }

    /// Builds the solver.
    ///
    /// # Errors
    /// [`SolveError::NotBuilt`] if the backend's library was left out of this build.
    pub fn build(self) -> Result<Box<dyn Solver + Send>, SolveError> {
        backends::build(self)
    }
}
