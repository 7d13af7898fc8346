//! CBC through good_lp, in its own process, because it aborts on some problems.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use coin_cbc::raw;
use good_lp::solvers::ObjectiveDirection;
use good_lp::solvers::coin_cbc::{CoinCbcProblem, coin_cbc};

use super::apart;
use super::milp::{self, Job, Outcome};
use crate::{Allocation, Formulation, Limits, Problem, SolveError, Solver, SolverSpec};

/// CBC on one thread with a fixed seed, so that the same problem gets the same answer unless the
/// time limit ends the search.
///
/// Each model is solved in its own copy of this process. The library is never called in this process itself. A failed
/// assertion in CBC therefore costs only one answer, and solves in several threads do not interfere.
///
/// When a stop is requested, the copy is killed, and the plans that CBC has found are lost. The answer is then the
/// plan that was known before the search. CBC's C interface cannot end a search early: its callback returns nothing,
/// and CBC 2.10 continues after SIGINT.
#[derive(Debug, Clone)]
pub struct Cbc {
    spec: SolverSpec,
    stop: Arc<AtomicBool>,
}

impl Cbc {
    /// Creates a solver with the formulation and the big-M of `spec`.
    pub fn new(spec: SolverSpec) -> Self {
        Cbc {
            spec,
            stop: Arc::default(),
        }
    }

    fn static_name(&self) -> &'static str {
        match self.spec.formulation {
            Formulation::Counts => "cbc-counts",
            Formulation::Paper => "cbc-paper",
        }
    }
}

impl Solver for Cbc {
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

pub(super) fn run(job: &Job<'_>) -> Result<Outcome, String> {
    match apart::run(job.deadline, job.stop, || solve(job).to_bytes()) {
        apart::Ended::Wrote(bytes) => {
            let outcome = Outcome::from_bytes(&bytes);
            outcome.ok_or_else(|| "its process wrote an incomplete answer".to_owned())
        }
        // Treat a killed copy like a search that reached its time limit without a plan.
        apart::Ended::Killed => Ok(Outcome::default()),
        apart::Ended::Failed(how) => Err(how),
    }
}

fn solve(job: &Job<'_>) -> Outcome {
    // CBC assumes that the objective of a start solution is to be minimised, so the model minimises.
    let mut loaded = job.load(ObjectiveDirection::Minimisation, coin_cbc);
    if let Some(start) = &job.start {
        let inner = loaded.as_inner_mut();
        let columns: Vec<_> = inner.cols().collect();
        for (column, &value) in columns.into_iter().zip(start) {
            inner.set_col_initial_solution(column, value);
        }
    }
    let seconds = job.seconds_left();
    set_parameters(&mut loaded, seconds, job.gap);
    let started = Instant::now();
    // good_lp's own `solve` reports some interrupted searches as errors.
    let solution = loaded.as_inner().solve();
    let was_interrupted = started.elapsed().as_secs_f64() > 0.9 * seconds;
    outcome(job, solution.raw(), was_interrupted)
}

fn set_parameters(loaded: &mut CoinCbcProblem, seconds: f64, gap: f64) {
    for (key, value) in [
        // good_lp would round the time limit up to whole seconds and the gap to 32 bits.
        ("seconds", &*seconds.to_string()),
        ("ratioGap", &gap.to_string()),
        ("timeMode", "elapsed"),
        ("randomCbcSeed", "1"),
        // Silences the search and the relaxations within it.
        ("log", "0"),
        ("slogLevel", "0"),
        // With preprocessing, a start solution and a time limit, CBC 2.10 accesses invalid memory if
        // the limit is reached early. It is also faster without preprocessing.
        ("preprocess", "off"),
    ] {
        loaded.set_parameter(key, value);
    }
}

fn outcome(job: &Job<'_>, raw: &raw::Model, was_interrupted: bool) -> Outcome {
    let nothing_found = raw.is_proven_infeasible()
        || raw.secondary_status() == raw::SecondaryStatus::LinearRelaxationInfeasible;
    if !nothing_found {
        return Outcome {
            optimal: raw.is_proven_optimal(),
            values: Some(raw.col_solution().to_vec()),
            bound: Some(-raw.best_possible_value()),
            ..Outcome::default()
        };
    }
    match &job.start {
        // CBC reports an interrupted search in the same way as an infeasible model.
        _ if was_interrupted => Outcome::default(),
        // With a start solution, CBC reports that it found nothing if no plan is better than this solution. CBC's
        // values and bound are then meaningless.
        Some(start) => Outcome {
            optimal: true,
            bound: Some(job.scaled_objective(start)),
            ..Outcome::default()
        },
        None => Outcome {
            infeasible: true,
            ..Outcome::default()
        },
    }
}
