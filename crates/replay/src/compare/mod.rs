//! Several solvers on the same problems: objective, gap to the optimum, time.

mod estimate;
mod recorder;
mod row;
mod summary;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    Allocation, BigM, Formulation, Limits, Problem, Solver, SolverKind, SolverSpec, Status,
};

use estimate::Stopwatch;
use gleaner_core::error::Result;
use gleaner_core::results::compare::{Estimate, Row};
pub use recorder::Recorder;
pub use row::{REPEAT_TIME, REPEATS};
pub use summary::summarise;

/// A solver under comparison.
pub struct Contender {
    /// Name in the table, such as `highs-paper`.
    pub name: Cow<'static, str>,
    /// The solver.
    pub solver: Box<dyn Solver + Send>,
}

/// One of our solvers that can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The solver that the name stands for.
    pub spec: SolverSpec,
}

/// All of our solvers that can be compared.
pub const KNOWN: [Known; 6] = [
    known("exact", SolverKind::Exact, Formulation::Counts),
    known("highs", SolverKind::Highs, Formulation::Counts),
    known("cbc", SolverKind::Cbc, Formulation::Counts),
    known("highs-paper", SolverKind::Highs, Formulation::Paper),
    known("cbc-paper", SolverKind::Cbc, Formulation::Paper),
    known("equal-share", SolverKind::EqualShare, Formulation::Counts),
];

const fn known(name: &'static str, kind: SolverKind, formulation: Formulation) -> Known {
    Known {
        name,
        spec: SolverSpec {
            kind,
            formulation,
            big_m: BigM::Corrected,
        },
    }
}

impl Known {
    /// The solver, ready to be compared.
    ///
    /// # Errors
    /// This build has no such solver.
    pub fn build(self) -> Result<Contender> {
        Ok(Contender {
            name: self.name.into(),
            solver: self.spec.build()?,
        })
    }

    /// Whether it is compared by default. The paper's formulation is not: it takes thousands of
    /// times longer than the rest.
    pub fn is_default(&self) -> bool {
        self.spec.formulation == Formulation::Counts
    }
}

/// How the caller follows and stops a comparison.
pub struct Control<'a> {
    /// Set to stop before the next problem of a solver.
    pub stop: &'a AtomicBool,
    /// Called with the number of answers so far, and the number of all.
    pub progress: &'a mut dyn FnMut(usize, usize),
    /// Called once, after the first few problems, if there are more.
    pub estimate: &'a mut dyn FnMut(&Estimate),
}

/// Has every contender solve every problem. The rows are in the order of problems, then of
/// contenders. After a stop some are missing.
///
/// # Errors
/// A solver that fails, or a plan that fails the check.
pub fn compare(
    problems: &[Problem],
    contenders: &mut [Contender],
    limits: &Limits,
    control: Control<'_>,
) -> Result<Vec<Row>> {
    let mut comparison = Comparison::new(problems, contenders, limits, control);
    let stopwatch = comparison.run_sample()?;
    if comparison.done < comparison.rows.len() && !comparison.is_stopped() {
        (comparison.control.estimate)(&stopwatch.estimate(problems.len()));
    }
    comparison.run_rest()?;
    Ok(comparison.rows.into_iter().flatten().collect())
}

/// The state of a comparison.
struct Comparison<'a, 'c> {
    problems: &'a [Problem],
    contenders: &'a mut [Contender],
    limits: &'a Limits,
    control: Control<'c>,
    exact: Exact,
    /// The optimum of each problem, once the exact solver has searched for it; `Some(None)` if it
    /// found none.
    optima: Vec<Option<Option<Allocation>>>,
    /// A row for each problem and contender, the contenders of a problem side by side.
    rows: Vec<Option<Row>>,
    /// Number of rows filled in.
    done: usize,
}

impl<'a, 'c> Comparison<'a, 'c> {
    fn new(
        problems: &'a [Problem],
        contenders: &'a mut [Contender],
        limits: &'a Limits,
        control: Control<'c>,
    ) -> Self {
        Comparison {
            problems,
            limits,
            control,
            exact: Exact::new(BigM::Corrected),
            optima: vec![None; problems.len()],
            rows: vec![None; problems.len() * contenders.len()],
            contenders,
            done: 0,
        }
    }

    fn is_stopped(&self) -> bool {
        self.control.stop.load(Ordering::Relaxed)
    }

    /// Has every contender solve a few problems, timed.
    fn run_sample(&mut self) -> Result<Stopwatch> {
        let mut stopwatch = Stopwatch::new(self.contenders);
        for problem in estimate::sample(self.problems.len()) {
            stopwatch.reference(|| self.optimum(problem));
            for contender in 0..self.contenders.len() {
                if self.is_stopped() {
                    return Ok(stopwatch);
                }
                if stopwatch.wants(contender) {
                    stopwatch.time(contender, || self.fill(problem, contender))?;
                }
            }
        }
        Ok(stopwatch)
    }

    /// Fills in all rows that are missing.
    fn run_rest(&mut self) -> Result<()> {
        for problem in 0..self.problems.len() {
            for contender in 0..self.contenders.len() {
                if self.is_stopped() {
                    return Ok(());
                }
                self.fill(problem, contender)?;
            }
        }
        Ok(())
    }

    /// Has the exact solver find the optimum of a problem, unless it already has.
    fn optimum(&mut self, problem: usize) {
        let (exact, limits) = (&mut self.exact, self.limits);
        let problems = self.problems;
        self.optima[problem].get_or_insert_with(|| {
            // The exact solver refuses some side constraints: then there is no optimum to compare with.
            let best = exact.solve(&problems[problem], limits).ok();
            best.filter(|answer| answer.status == Status::Optimal)
        });
    }

    /// Has a contender solve a problem, unless it already has.
    fn fill(&mut self, problem: usize, contender: usize) -> Result<()> {
        let at = problem * self.contenders.len() + contender;
        if self.rows[at].is_some() {
            return Ok(());
        }
        self.optimum(problem);
        self.rows[at] = Some(row::row(
            &self.problems[problem],
            self.optima[problem].as_ref().and_then(Option::as_ref),
            &mut self.contenders[contender],
            self.limits,
        )?);
        self.done += 1;
        (self.control.progress)(self.done, self.rows.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(count: u64) -> Vec<Problem> {
        let of = |seed| gleaner_solvers::synthetic::problem(6, 30, seed);
        (0..count).map(of).collect()
    }

    fn pair() -> [Contender; 2] {
        [KNOWN[0], KNOWN[5]].map(|known| known.build().unwrap())
    }

    /// The rows, and the number of estimates made.
    fn compared(problems: &[Problem], stop: &AtomicBool) -> (Vec<Row>, usize) {
        let mut estimates = 0;
        let control = Control {
            stop,
            progress: &mut |_, _| {},
            estimate: &mut |_| estimates += 1,
        };
        let rows = compare(problems, &mut pair(), &Limits::default(), control).unwrap();
        (rows, estimates)
    }

    #[test]
    fn the_heuristics_gap_to_the_optimum_is_summarised() {
        let (rows, _) = compared(&problems(5), &AtomicBool::new(false));
        let lines = summarise(&rows, &pair());
        assert_eq!((lines[0].optimal, lines[0].worst_gap), (5, Some(0.0)));
        assert_eq!(lines[1].optimal, 0);
        assert!(lines[1].worst_gap > Some(0.0) && lines[1].objective < lines[0].objective);
    }

    #[test]
    fn rows_are_ordered_by_problem_whatever_was_timed_first() {
        for count in [0, 1, 3, 4, 20] {
            let problems = problems(count);
            let (rows, estimates) = compared(&problems, &AtomicBool::new(false));
            let found = rows.iter().map(|r| (r.problem.clone(), r.solver.clone()));
            let of = |p: &'_ Problem| pair().map(|c| (p.id.clone(), c.name));
            let expected: Vec<(String, Cow<'_, str>)> = problems.iter().flat_map(of).collect();
            assert_eq!(found.collect::<Vec<_>>(), expected);
            // The sample may be all there is.
            assert_eq!(estimates, usize::from(count > 3), "{count} problems");
        }
    }

    #[test]
    fn a_stopped_comparison_has_no_further_rows() {
        let (rows, estimates) = compared(&problems(9), &AtomicBool::new(true));
        assert_eq!((rows.len(), estimates), (0, 0));
    }
}
