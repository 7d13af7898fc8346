//! The solver boundary: trait, limits, and the registry of backends by name.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Allocation, Goal, Problem, backends, formulations};

/// When a solver must stop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock limit for one solve.
    pub time: Duration,
    /// Relative gap at which a plan counts as optimal.
    pub gap: f64,
}

impl Default for Limits {
    /// 10 s, as the original replayer's `-optTL`, and a gap of 1e-9.
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(10),
            gap: 1e-9,
        }
    }
}

/// Which big-M bounds the change of a task's count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BigM {
    /// Large enough: no cap on a change.
    #[default]
    Corrected,
    /// The original's N + 1, which forbids any change of more than (N + 1) / 2
    /// nodes and any task whose minimum exceeds N + 1.
    Paper,
}

impl BigM {
    /// Most nodes by which a task's count may change when `nodes` are idle.
    pub fn change_cap(self, nodes: u32) -> u32 {
        match self {
            BigM::Corrected => u32::MAX,
            // ⌊(N + 1) / 2⌋ without overflow.
            BigM::Paper => nodes / 2 + nodes % 2,
        }
    }

    /// Whether a task with this minimum has no next count at all when `nodes` are idle:
    /// the original's min rows, with M = N + 1, cannot be met then.
    pub fn shuts_out(self, nodes: u32, min_nodes: u32) -> bool {
        self == BigM::Paper && min_nodes > nodes.saturating_add(1)
    }
}

/// How a MILP backend writes the problem down.
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
    /// Name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Formulation::Counts => "counts",
            Formulation::Paper => "paper",
        }
    }
}

/// What broke, as opposed to what came back (see [`Status`](crate::Status)).
#[derive(Debug, thiserror::Error)]
pub enum SolveError {
    /// The problem has a side constraint that the solver or formulation cannot take.
    #[error(
        "{solver} cannot take side constraints (group {group}): \
         use highs or cbc with the counts formulation, or auto"
    )]
    SideConstraint {
        /// What refused, such as `the exact solver`.
        solver: &'static str,
        /// The first group.
        group: String,
    },
    /// The formulation cannot state the problem's max-min goal.
    #[error(
        "{solver} cannot state the max-min goal of --objective share-fair: \
         use exact, or highs or cbc with the counts formulation"
    )]
    Goal {
        /// What refused, such as `the paper formulation`.
        solver: &'static str,
    },
    /// The problem is sound, but not one for this solver or formulation; says why and what
    /// to use.
    #[error("{0}")]
    Unfit(String),
    /// The problem is not sound; see [`Problem::validate`].
    #[error("the problem is not sound: {}", .0.join("; "))]
    Invalid(Vec<String>),
    /// The backend was left out of this build.
    #[error(
        "this build has no {0}: rebuild with the feature {0}; \
         problems without side constraints need none, --solver exact solves them"
    )]
    NotBuilt(&'static str),
    /// The solver library failed.
    #[error("{solver} failed: {message}")]
    Backend {
        /// Backend that failed.
        solver: &'static str,
        /// Its own words.
        message: String,
    },
}

impl SolveError {
    /// Whether the solver was the wrong choice for a problem that others can take, or is not
    /// in this build.
    pub fn is_wrong_choice(&self) -> bool {
        match self {
            SolveError::SideConstraint { .. }
            | SolveError::Goal { .. }
            | SolveError::Unfit(_)
            | SolveError::NotBuilt(_) => true,
            SolveError::Invalid(_) | SolveError::Backend { .. } => false,
        }
    }
}

/// Names of solvers in messages.
pub(crate) const EXACT: &str = "the exact solver";
pub(crate) const EQUAL_SHARE: &str = "the equal-share solver";

/// Refuses a problem with side constraints on behalf of `solver`.
///
/// # Errors
/// [`SolveError::SideConstraint`] with the first group.
pub(crate) fn refuse_groups(solver: &'static str, problem: &Problem) -> Result<(), SolveError> {
    match problem.groups.first() {
        None => Ok(()),
        Some(group) => Err(SolveError::SideConstraint {
            solver,
            group: group.name.clone(),
        }),
    }
}

/// Something that answers allocation problems.
///
/// A solver may keep buffers between calls, but its answer depends on the
/// problem and the limits alone.
pub trait Solver {
    /// Name for tables and messages, such as `highs-counts`. A solver that chooses among
    /// others gives the name of the one that it asked last.
    fn name(&self) -> &str;

    /// Solves `problem`, which must be sound ([`Problem::validate`]).
    ///
    /// Reaching a limit, infeasibility and failure to prove are answers, not errors.
    ///
    /// # Errors
    /// [`SolveError`] when the backend cannot take the problem, its numbers are out of
    /// [`range`](crate::range), or its library fails.
    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError>;
}

/// A backend by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SolverKind {
    /// Exact whenever the problem has no side constraint, else HiGHS.
    Auto,
    /// Relaxation, reduced-cost fixing and dynamic programming: proven optimal.
    Exact,
    /// HiGHS through good_lp.
    Highs,
    /// CBC through good_lp.
    Cbc,
    /// The original's heuristic.
    EqualShare,
}

impl SolverKind {
    /// Whether the backend takes a formulation.
    pub fn is_milp(self) -> bool {
        matches!(self, SolverKind::Highs | SolverKind::Cbc)
    }
}

/// A backend with its modelling options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverSpec {
    /// The backend.
    pub kind: SolverKind,
    /// How MILP backends write the problem down.
    pub formulation: Formulation,
    /// Big-M of the paper's model; the exact solver obeys the cap it implies.
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

    /// The solver that answers `problem`: for [`SolverKind::Auto`] the one that it chooses.
    pub fn for_problem(self, problem: &Problem) -> SolverSpec {
        if self.kind != SolverKind::Auto {
            return self;
        }
        let has_only_cbc = cfg!(all(feature = "cbc", not(feature = "highs")));
        SolverSpec {
            kind: match (problem.groups.is_empty(), has_only_cbc) {
                (true, _) => SolverKind::Exact,
                (false, false) => SolverKind::Highs,
                (false, true) => SolverKind::Cbc,
            },
            formulation: Formulation::Counts,
            big_m: self.big_m,
        }
    }

    /// Whether the solver takes problems of this goal, if they have no side constraint.
    ///
    /// # Errors
    /// [`SolveError::Goal`] or [`SolveError::NotBuilt`].
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

    /// Whether the solver takes the problem, known before it is asked.
    ///
    /// # Errors
    /// What [`Solver::solve`] would refuse the problem with as a wrong choice of solver, see
    /// [`SolveError::is_wrong_choice`].
    pub fn accepts(self, problem: &Problem) -> Result<(), SolveError> {
        let spec = self.for_problem(problem);
        spec.build()?;
        match spec.kind {
            SolverKind::Auto | SolverKind::Exact => refuse_groups(EXACT, problem),
            SolverKind::EqualShare => refuse_groups(EQUAL_SHARE, problem),
            SolverKind::Highs | SolverKind::Cbc => formulations::accepts(problem, spec.formulation),
        }
    }

    /// Builds the solver.
    ///
    /// # Errors
    /// [`SolveError::NotBuilt`] when the backend's library was left out of this build.
    pub fn build(self) -> Result<Box<dyn Solver + Send>, SolveError> {
        backends::build(self)
    }
}
