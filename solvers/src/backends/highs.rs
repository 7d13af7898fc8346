//! HiGHS through good_lp.
#![expect(
    unsafe_code,
    reason = "the crate highs has no safe way to interrupt a search"
)]

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use good_lp::solvers::ObjectiveDirection;
use highs::{HighsModelStatus, HighsOptionValue, HighsSolutionStatus, SolvedModel};

use super::milp::{self, Job, Outcome};
use crate::{Allocation, Formulation, Limits, Problem, SolveError, Solver, SolverSpec};

/// The HiGHS solver, on one thread and with a fixed seed. The same problem gets the same answer unless the time limit
/// ends the search.
#[derive(Debug, Clone)]
pub struct Highs {
    spec: SolverSpec,
    stop: Arc<AtomicBool>,
}

impl Highs {
    /// Creates a solver with the formulation and the big-M of `spec`.
    pub fn new(spec: SolverSpec) -> Self {
        Highs {
            spec,
            stop: Arc::default(),
        }
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
        milp::solve(
            self.static_name(),
            self.spec,
            problem,
            limits,
            &self.stop,
            run,
        )
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }
}

/// Loads and solves the model. good_lp's own `solve` returns neither the best bound nor the best
/// plan of an interrupted search. This function therefore takes the HiGHS model out of good_lp's
/// wrapper.
pub(super) fn run(job: &Job<'_>) -> Result<Outcome, String> {
    let loaded = job.load(ObjectiveDirection::Maximisation, good_lp::highs);
    let mut model = loaded.try_into_inner().map_err(|e| e.to_string())?;
    if let Some(start) = &job.start {
        model
            .try_set_solution(Some(start), None, None, None)
            .map_err(|e| format!("it rejected the start solution: {e:?}"))?;
    }
    set_options(&mut model, job)?;
    end_when_set(&mut model, job.stop)?;
    let solved = model
        .try_solve()
        .map_err(|e| format!("the run ended with status {e:?}"))?;
    outcome(&solved)
}

fn set_options(model: &mut highs::Model, job: &Job<'_>) -> Result<(), String> {
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
        .map_err(|_| format!("it rejected the option {option}"))
}

/// The callbacks with which HiGHS asks whether to end: in the search, and in the simplex and interior-point methods.
/// HiGHS does not ask in the sub-searches of its heuristics, so a search on a large model may take some seconds to end.
const INTERRUPTS: [highs_sys::HighsInt; 3] = [
    highs_sys::kHighsCallbackMipInterrupt,
    highs_sys::kHighsCallbackSimplexInterrupt,
    highs_sys::kHighsCallbackIpmInterrupt,
];

/// Makes HiGHS end the search soon after `stop` is set, with its best plan. The flag must exist
/// until the model has been solved.
fn end_when_set(model: &mut highs::Model, stop: &AtomicBool) -> Result<(), String> {
    let (model, stop) = (
        model.as_mut_ptr(),
        std::ptr::from_ref(stop).cast_mut().cast(),
    );
    // SAFETY: the pointer to the model is valid. `interrupt` has the type that HiGHS expects, and
    // only reads the flag.
    let is_set = unsafe {
        let set = highs_sys::Highs_setCallback(model, Some(interrupt), stop);
        let started = INTERRUPTS.map(|kind| highs_sys::Highs_startCallback(model, kind));
        set == highs_sys::STATUS_OK && started == [highs_sys::STATUS_OK; 3]
    };
    is_set
        .then_some(())
        .ok_or_else(|| "it rejected the callback that ends a search".to_owned())
}

/// The callback through which HiGHS asks whether to end the search.
///
/// # Safety
/// `flag` must point to an [`AtomicBool`], and `answer` must be null or valid.
unsafe extern "C" fn interrupt(
    _kind: c_int,
    _message: *const c_char,
    _search: *const highs_sys::HighsCallbackDataOut,
    answer: *mut highs_sys::HighsCallbackDataIn,
    flag: *mut c_void,
) {
    // SAFETY: the caller guarantees both conditions.
    unsafe {
        if let Some(answer) = answer.as_mut() {
            let flag = &*flag.cast::<AtomicBool>();
            answer.user_interrupt = c_int::from(flag.load(Ordering::Relaxed));
        }
    }
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
