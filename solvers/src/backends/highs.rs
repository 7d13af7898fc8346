//! HiGHS through good_lp.

use good_lp::solvers::ObjectiveDirection;
use highs::{HighsModelStatus, HighsOptionValue, HighsSolutionStatus, SolvedModel};

use super::milp::{self, Job, Outcome};
use crate::{Allocation, Formulation, Limits, Problem, SolveError, Solver, SolverSpec};

/// HiGHS on one thread with a fixed seed, so that the same problem gets the same answer unless the
/// time limit ends the search.
#[derive(Debug, Clone, Copy)]
pub struct Highs {
    spec: SolverSpec,
}

impl Highs {
    /// A solver with the formulation and the big-M of `spec`.
    pub fn new(spec: SolverSpec) -> Self {
        Highs { spec }
    }

    fn static_name(&self) -> &'static str {
        match self.spec.formulation {
            Formulation::Counts => "highs-counts",
            Formulation::Paper => "highs-paper",
        }
    }
}

impl Solver for Highs {
    fn name(&self) -> &str {
        self.static_name()
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        milp::solve(self.static_name(), self.spec, problem, limits, run)
    }
}

/// Loads and solves the model. good_lp's own `solve` returns neither the best bound nor the best
/// plan of an interrupted search, so the HiGHS model is taken out of good_lp's wrapper.
fn run(job: &Job) -> Result<Outcome, String> {
    let loaded = job.load(ObjectiveDirection::Maximisation, good_lp::highs);
    let mut model = loaded.try_into_inner().map_err(|e| e.to_string())?;
    if let Some(start) = &job.start {
        model
            .try_set_solution(Some(start), None, None, None)
            .map_err(|e| format!("it refused the start solution: {e:?}"))?;
    }
    set_options(&mut model, job)?;
    let solved = model
        .try_solve()
        .map_err(|e| format!("the run ended with status {e:?}"))?;
    outcome(&solved)
}

fn set_options(model: &mut highs::Model, job: &Job) -> Result<(), String> {
    set(model, "parallel", "off")?;
    set(model, "threads", 1)?;
    set(model, "random_seed", 0)?;
    set(model, "mip_abs_gap", 0.0)?;
    set(model, "mip_rel_gap", job.gap)?;
    set(model, "time_limit", job.seconds_left())
}

fn set(model: &mut highs::Model, option: &str, value: impl HighsOptionValue) -> Result<(), String> {
    model
        .try_set_option(option, value)
        .map_err(|_| format!("it refused the option {option}"))
}

fn outcome(solved: &SolvedModel) -> Result<Outcome, String> {
    use HighsModelStatus::*;
    let mut out = Outcome::default();
    match solved.status() {
        Optimal => out.optimal = true,
        // Every column is bounded, so the model cannot be unbounded.
        Infeasible | UnboundedOrInfeasible => out.infeasible = true,
        ReachedTimeLimit
        | ReachedIterationLimit
        | ReachedSolutionLimit
        | ReachedInterrupt
        | ReachedMemoryLimit => {}
        other => return Err(format!("the run ended with model status {other:?}")),
    }
    if solved.primal_solution_status() == HighsSolutionStatus::Feasible {
        out.values = Some(solved.get_solution().columns().to_vec());
    }
    out.bound = solved.double_info_value(c"mip_dual_bound").ok();
    Ok(out)
}
