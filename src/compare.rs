//! Several solvers on the same problems: objective, gap to the optimum, time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    Allocation, BigM, Formulation, Limits, Problem, SolveError, Solver, SolverKind, SolverSpec,
    Status, check,
};

use crate::error::{Error, Result};
use crate::replay::{Decider, Decision, SolverDecider};

/// A solver under comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contender {
    /// Name in the table, such as `highs-paper`.
    pub name: &'static str,
    /// What it names.
    pub spec: SolverSpec,
}

/// Every solver that can be compared, by name.
pub const CONTENDERS: [Contender; 6] = [
    contender("exact", SolverKind::Exact, Formulation::Counts),
    contender("highs", SolverKind::Highs, Formulation::Counts),
    contender("cbc", SolverKind::Cbc, Formulation::Counts),
    contender("highs-paper", SolverKind::Highs, Formulation::Paper),
    contender("cbc-paper", SolverKind::Cbc, Formulation::Paper),
    contender("equal-share", SolverKind::EqualShare, Formulation::Counts),
];

const fn contender(name: &'static str, kind: SolverKind, formulation: Formulation) -> Contender {
    Contender {
        name,
        spec: SolverSpec {
            kind,
            formulation,
            big_m: BigM::Corrected,
        },
    }
}

/// One solver's answer to one problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The problem's id.
    pub problem: String,
    /// Tasks in it.
    pub tasks: usize,
    /// Idle nodes in it.
    pub nodes: u32,
    /// Name of the solver.
    pub solver: &'static str,
    /// How far the solver got; `Err` says why it refused the problem.
    pub status: Result<Status, String>,
    /// Objective of its plan.
    pub objective: Option<f64>,
    /// Relative gap it proved itself.
    pub proven_gap: Option<f64>,
    /// How far its plan is below the exact optimum, relative.
    pub gap_to_optimum: Option<f64>,
    /// Wall time in microseconds: the median of [`REPEATS`] or fewer solves.
    pub micros: f64,
}

/// Most solves of one problem by one solver; fewer once they took [`REPEAT_TIME`].
pub const REPEATS: usize = 51;

/// Once a solver spent this on a problem, it is not asked again.
pub const REPEAT_TIME: Duration = Duration::from_millis(20);

/// Has every contender solve every problem; `progress` hears of each problem done.
///
/// # Errors
/// A solver that this build lacks or that fails, or a plan that fails the check.
pub fn compare(
    problems: &[Problem],
    contenders: &[Contender],
    limits: &Limits,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Row>> {
    let mut solvers = contenders
        .iter()
        .map(|c| Ok((c.name, c.spec.build()?)))
        .collect::<Result<Vec<_>>>()?;
    let mut exact = Exact::new(BigM::Corrected);
    let mut rows = Vec::with_capacity(problems.len() * contenders.len());
    for (done, problem) in problems.iter().enumerate() {
        // Side constraints are beyond the exact solver: no optimum to compare with.
        let best = exact.solve(problem, limits).ok();
        let optimum = best.as_ref().filter(|a| a.status == Status::Optimal);
        for (name, solver) in &mut solvers {
            if stop.load(Ordering::Relaxed) {
                return Ok(rows);
            }
            rows.push(row(problem, optimum, name, solver.as_mut(), limits)?);
        }
        progress(done + 1, problems.len());
    }
    Ok(rows)
}

/// How far an answer is below the best one, relative: under a max-min goal in the least
/// share (all of it where fewer tasks run), else in the objective.
fn gap_to(best: &Allocation, answer: &Allocation) -> Option<f64> {
    let (best, found) = match (best.fairness, answer.fairness) {
        (Some(best), Some(found)) if found.running < best.running => return Some(1.0),
        (Some(best), Some(found)) => (best.least_share?, found.least_share?),
        _ => (best.objective?, answer.objective?),
    };
    Some((best - found).max(0.0) / best.abs().max(1e-9))
}

fn row(
    problem: &Problem,
    optimum: Option<&Allocation>,
    name: &'static str,
    solver: &mut dyn Solver,
    limits: &Limits,
) -> Result<Row> {
    let mut row = Row {
        problem: problem.id.clone(),
        tasks: problem.tasks.len(),
        nodes: problem.nodes,
        solver: name,
        status: Ok(Status::Unknown),
        objective: None,
        proven_gap: None,
        gap_to_optimum: None,
        micros: 0.0,
    };
    match timed(problem, solver, limits) {
        Ok((answer, micros)) => {
            checked(problem, &answer, name)?;
            row.status = Ok(answer.status);
            row.objective = answer.objective;
            row.proven_gap = answer.gap();
            row.gap_to_optimum = optimum.and_then(|best| gap_to(best, &answer));
            row.micros = micros;
        }
        Err(refused @ (SolveError::SideConstraint { .. } | SolveError::Invalid(_))) => {
            row.status = Err(refused.to_string());
        }
        Err(failed) => return Err(failed.into()),
    }
    Ok(row)
}

/// Solves again and again; the last answer and the median time.
fn timed(
    problem: &Problem,
    solver: &mut dyn Solver,
    limits: &Limits,
) -> Result<(Allocation, f64), SolveError> {
    let mut times = Vec::new();
    let begun = Instant::now();
    loop {
        let clock = Instant::now();
        let answer = solver.solve(problem, limits)?;
        times.push(clock.elapsed());
        if times.len() >= REPEATS || begun.elapsed() > REPEAT_TIME {
            times.sort_unstable();
            return Ok((answer, times[times.len() / 2].as_secs_f64() * 1e6));
        }
    }
}

fn checked(problem: &Problem, answer: &Allocation, name: &str) -> Result<()> {
    check(problem, answer, BigM::Corrected).map_err(|violations| {
        let all: Vec<String> = violations.iter().map(ToString::to_string).collect();
        let id = &problem.id;
        Error::Run(format!(
            "the answer of {name} to problem {id} fails the check: {}",
            all.join("; ")
        ))
    })
}

/// One solver over all problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Name of the solver.
    pub solver: &'static str,
    /// Problems it took.
    pub problems: usize,
    /// Problems it refused.
    pub refused: usize,
    /// Problems it proved optimal.
    pub optimal: usize,
    /// Problems without a plan.
    pub without_plan: usize,
    /// Sum of the objectives.
    pub objective: f64,
    /// Mean relative gap to the exact optimum.
    pub mean_gap: Option<f64>,
    /// Largest relative gap to the exact optimum.
    pub worst_gap: Option<f64>,
    /// Median wall time in microseconds.
    pub median_micros: f64,
    /// 99th percentile of the wall time in microseconds.
    pub p99_micros: f64,
}

/// Sums rows up by solver, in the contenders' order.
pub fn summarise(rows: &[Row], contenders: &[Contender]) -> Vec<Line> {
    contenders
        .iter()
        .map(|c| {
            let own: Vec<&Row> = rows.iter().filter(|r| r.solver == c.name).collect();
            let taken: Vec<&Row> = own.iter().copied().filter(|r| r.status.is_ok()).collect();
            let mut times: Vec<f64> = taken.iter().map(|r| r.micros).collect();
            times.sort_by(f64::total_cmp);
            let gaps: Vec<f64> = taken.iter().filter_map(|r| r.gap_to_optimum).collect();
            Line {
                solver: c.name,
                problems: taken.len(),
                refused: own.len() - taken.len(),
                optimal: taken
                    .iter()
                    .filter(|r| r.status == Ok(Status::Optimal))
                    .count(),
                without_plan: taken.iter().filter(|r| r.objective.is_none()).count(),
                objective: taken.iter().filter_map(|r| r.objective).sum(),
                mean_gap: (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64),
                worst_gap: gaps.iter().copied().reduce(f64::max),
                median_micros: percentile(&times, 50),
                p99_micros: percentile(&times, 99),
            }
        })
        .collect()
}

/// The `percent`-th percentile of sorted values, by nearest rank; 0 of none.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Decides by a solver and keeps the problem of every k-th decision.
pub struct Recorder {
    decider: SolverDecider,
    every: usize,
    seen: usize,
    /// The problems kept; their ids name the event.
    pub problems: Vec<Problem>,
}

impl Recorder {
    /// Keeps the first and then every `every`-th problem (at least 1) that `decider` decides on.
    pub fn new(decider: SolverDecider, every: usize) -> Self {
        Recorder {
            decider,
            every: every.max(1),
            seen: 0,
            problems: Vec::new(),
        }
    }
}

impl Decider for Recorder {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        if self.seen.is_multiple_of(self.every) {
            self.problems.push(Problem {
                id: format!("event-{event}"),
                ..problem.clone()
            });
        }
        self.seen += 1;
        self.decider.decide(event, problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let values: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(
            (percentile(&values, 50), percentile(&values, 99)),
            (100.0, 198.0)
        );
        assert_eq!((percentile(&[7.0], 99), percentile(&[], 50)), (7.0, 0.0));
    }

    #[test]
    fn the_heuristic_is_told_from_the_optimum() {
        let problems: Vec<Problem> = (0..5)
            .map(|seed| gleaner_solvers::synthetic::problem(6, 30, seed))
            .collect();
        let contenders = [CONTENDERS[0], CONTENDERS[5]];
        let stop = AtomicBool::new(false);
        let rows = compare(
            &problems,
            &contenders,
            &Limits::default(),
            &stop,
            &mut |_, _| {},
        )
        .unwrap();
        let lines = summarise(&rows, &contenders);
        assert_eq!((lines[0].optimal, lines[0].worst_gap), (5, Some(0.0)));
        assert_eq!(lines[1].optimal, 0);
        assert!(lines[1].worst_gap > Some(0.0) && lines[1].objective < lines[0].objective);
    }
}
