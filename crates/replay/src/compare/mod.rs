//! Compares several solvers on the same problems: objectives, gaps to the optimum, intermediate plans and times.

mod estimate;
mod incumbents;
mod recorder;
mod row;
mod summary;

use std::borrow::Cow;

use gleaner_classes::{AnyAnswer, AnyProblem, AnySolver};
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{BigM, Limits, Solver, Status};

use estimate::Stopwatch;
use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::results::compare::{AnswerRow, IncumbentRow};
pub use recorder::Recorder;
use row::Answered;
pub use row::{REPEAT_TIME, REPEATS};
pub use summary::summarise;

/// A solver under comparison.
pub struct Contender {
    /// Name in the table, such as `highs-paper`.
    pub name: Cow<'static, str>,
    /// The solver.
    pub solver: Box<dyn AnySolver + Send>,
}

/// The results of the contenders. The rows are ordered by problem, then by contender, then by time. If the
/// comparison is stopped, the rows of unfinished answers are missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The answers, one for each problem and contender.
    pub answers: Vec<AnswerRow>,
    /// The plans that contenders found during a solve, each better than the plans before it. If a contender solved a
    /// problem repeatedly, these are the plans of its first solve.
    pub incumbents: Vec<IncumbentRow>,
}

/// Makes every contender solve every problem. If problems remain after the sample, the observer receives an estimate of
/// the total time. A stop ends the current solve early, and the answer of this solve is discarded.
///
/// # Errors
/// A solver fails, or a plan fails the check.
pub fn compare(
    problems: &[AnyProblem],
    contenders: &mut [Contender],
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Compared> {
    for contender in &mut *contenders {
        contender.solver.stop_when(observer.stop());
    }
    let mut comparison = Comparison::new(problems, contenders, limits, observer);
    let stopwatch = comparison.run_sample()?;
    if comparison.done < comparison.rows.len() && !observer.is_stopped() {
        observer.inform(&[stopwatch.estimate(problems.len()).to_string()]);
    }
    comparison.run_rest()?;
    Ok(comparison.end())
}

/// The state of a comparison.
struct Comparison<'a, 'c> {
    problems: &'a [AnyProblem],
    contenders: &'a mut [Contender],
    limits: &'a Limits,
    observer: &'c dyn Observer,
    /// The optimum of each problem, once the exact solver has searched for it; `Some(None)` if it found no optimum.
    optima: Vec<Option<Option<AnyAnswer>>>,
    /// A row for each problem and contender; `None` until it is filled in. All rows of a problem are adjacent, in the
    /// order of the contenders.
    rows: Vec<Option<Answered>>,
    /// Number of rows filled in.
    done: usize,
}

impl<'a, 'c> Comparison<'a, 'c> {
    fn new(
        problems: &'a [AnyProblem],
        contenders: &'a mut [Contender],
        limits: &'a Limits,
        observer: &'c dyn Observer,
    ) -> Self {
        Comparison {
            problems,
            limits,
            observer,
            optima: vec![None; problems.len()],
            rows: vec![None; problems.len() * contenders.len()],
            contenders,
            done: 0,
        }
    }

    /// Times every contender on the problems of the sample, until it has spent enough time.
    fn run_sample(&mut self) -> Result<Stopwatch> {
        let mut stopwatch = Stopwatch::new(self.contenders);
        for problem in estimate::sample(self.problems.len()) {
            stopwatch.reference(|| self.optimum(problem));
            for contender in 0..self.contenders.len() {
                if self.observer.is_stopped() {
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
                if self.observer.is_stopped() {
                    return Ok(());
                }
                self.fill(problem, contender)?;
            }
        }
        Ok(())
    }

    /// Ends the comparison and returns its rows.
    fn end(self) -> Compared {
        let by_problem = self.rows.chunks(self.contenders.len().max(1));
        let optima = self.optima.iter().map(|known| known.as_ref()?.as_ref());
        let incumbents = by_problem.zip(optima);
        let incumbents = incumbents.flat_map(|(rows, optimum)| incumbents::rows(optimum, rows));
        Compared {
            incumbents: incumbents.collect(),
            answers: self.rows.into_iter().flatten().map(|a| a.row).collect(),
        }
    }

    /// Makes the exact solver find the optimum of a problem, unless it has done so already.
    fn optimum(&mut self, problem: usize) {
        let (problems, limits) = (self.problems, self.limits);
        self.optima[problem].get_or_insert_with(|| optimum(&problems[problem], limits));
    }

    /// Makes a contender solve a problem, unless it has done so already.
    fn fill(&mut self, problem: usize, contender: usize) -> Result<()> {
        let at = problem * self.contenders.len() + contender;
        if self.rows[at].is_some() {
            return Ok(());
        }
        self.optimum(problem);
        let row = row::row(
            &self.problems[problem],
            self.optima[problem].as_ref().and_then(Option::as_ref),
            &mut self.contenders[contender],
            self.limits,
        )?;
        // If the comparison was stopped, this solve may have ended early, so its answer is discarded.
        if self.observer.is_stopped() {
            return Ok(());
        }
        self.rows[at] = Some(row);
        self.done += 1;
        self.observer.progress(self.done, self.rows.len());
        Ok(())
    }
}

/// The exact solver's answer. `None` if the solver finds no optimum, or if it rejects the problem because of side
/// constraints that it does not support.
fn optimum(problem: &AnyProblem, limits: &Limits) -> Option<AnyAnswer> {
    let best = match problem {
        AnyProblem::OneClass(problem) => {
            let answer = Exact::new(BigM::Corrected).solve(problem, limits);
            answer.map(AnyAnswer::OneClass)
        }
        AnyProblem::Classes(problem) => {
            let answer = gleaner_classes::Exact::default().solve(problem, limits);
            answer.map(AnyAnswer::Classes)
        }
    };
    best.ok()
        .filter(|answer| answer.status() == Status::Optimal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::Unobserved;
    use gleaner_solvers::{
        Allocation, Formulation, Incumbent, Problem, SolveError, SolverKind, SolverSpec,
    };
    use gleaner_testing::StopAfter;

    fn problems(count: u64) -> Vec<AnyProblem> {
        let of = |seed| gleaner_solvers::synthetic::problem(6, 30, seed);
        (0..count)
            .map(|seed| AnyProblem::OneClass(of(seed).into()))
            .collect()
    }

    /// The exact solver and the equal-share heuristic.
    pub(super) fn pair() -> [Contender; 2] {
        let built = |kind| {
            let spec = SolverSpec {
                kind,
                formulation: Formulation::default(),
                big_m: BigM::default(),
            };
            spec.build().unwrap()
        };
        [
            contender("exact", built(SolverKind::Exact)),
            contender("equal-share", built(SolverKind::EqualShare)),
        ]
    }

    fn contender(name: &'static str, solver: Box<dyn Solver + Send>) -> Contender {
        Contender {
            name: name.into(),
            solver: Box::new(solver),
        }
    }

    /// Returns the rows and the number of estimates made. The comparison stops after `stop_after` answers.
    fn compared(problems: &[AnyProblem], stop_after: usize) -> (Compared, usize) {
        let observer = StopAfter::new(stop_after);
        let rows = compare(problems, &mut pair(), &Limits::default(), &observer).unwrap();
        (rows, observer.remarks().len())
    }

    #[test]
    fn the_heuristics_gap_to_the_optimum_is_summarised() {
        let (compared, _) = compared(&problems(5), usize::MAX);
        let lines = summarise(&compared.answers, &pair());
        assert_eq!((lines[0].optimal, lines[0].worst_gap), (5, Some(0.0)));
        assert_eq!(lines[1].optimal, 0);
        assert!(lines[1].worst_gap > Some(0.0) && lines[1].objective < lines[0].objective);
    }

    #[test]
    fn rows_are_ordered_by_problem_whatever_was_timed_first() {
        for count in [0, 1, 3, 4, 20] {
            let problems = problems(count);
            let (compared, estimates) = compared(&problems, usize::MAX);
            let of = |p: &'_ AnyProblem| pair().map(|c| (p.id().to_owned(), c.name.into_owned()));
            let expected: Vec<(String, String)> = problems.iter().flat_map(of).collect();
            let answers = compared.answers.iter();
            let answers = answers.map(|r| (r.problem.clone(), r.solver.to_string()));
            assert_eq!(answers.collect::<Vec<_>>(), expected);
            let found = compared.incumbents.iter();
            let mut found: Vec<_> = found
                .map(|r| (r.problem.clone(), r.solver.to_string()))
                .collect();
            found.dedup();
            assert_eq!(found, expected);
            // With at most three problems, the sample contains all problems, so no estimate is made.
            assert_eq!(estimates, usize::from(count > 3), "{count} problems");
        }
    }

    #[test]
    fn a_stopped_comparison_has_no_further_rows() {
        for answers in [0, 3] {
            let (compared, estimates) = compared(&problems(9), answers);
            assert_eq!(compared.answers.len(), answers);
            assert!(answers > 0 || compared.incumbents.is_empty());
            assert_eq!(estimates, 0);
        }
    }

    /// A solver that ignores the groups of a problem. It first reports a plan that gives no task a node, and then the
    /// exact solver's plan.
    struct Steps(Exact);

    impl Solver for Steps {
        fn name(&self) -> &str {
            "steps"
        }

        fn solve(
            &mut self,
            problem: &Problem,
            limits: &Limits,
        ) -> std::result::Result<Allocation, SolveError> {
            let best = Problem {
                groups: Vec::new(),
                ..problem.clone()
            };
            let best = self.0.solve(&best, limits)?;
            let counts = best.counts.unwrap_or_default();
            Ok(Allocation::with_plan(
                problem,
                Status::Feasible,
                counts,
                None,
            ))
        }

        fn solve_observed(
            &mut self,
            problem: &Problem,
            limits: &Limits,
            observer: &mut dyn FnMut(Incumbent),
        ) -> std::result::Result<Allocation, SolveError> {
            let answer = self.solve(problem, limits)?;
            let nothing = vec![0; problem.tasks.len()];
            let plans = [nothing, answer.counts.clone().unwrap_or_default()];
            for (millis, counts) in (1..).zip(plans) {
                let plan = Allocation::with_plan(problem, Status::Feasible, counts, None);
                let after = std::time::Duration::from_millis(millis);
                observer(Incumbent { after, plan });
            }
            Ok(answer)
        }
    }

    // The exact solver does not support groups that overlap without nesting, so gaps are relative to the best plan that
    // was found.
    #[test]
    fn gaps_on_the_way_are_to_the_best_plan_where_no_optimum_is_known() {
        let mut problem = gleaner_solvers::synthetic::problem(6, 30, 0);
        let group = |first: usize| gleaner_solvers::GroupLimit {
            name: format!("from {first}"),
            tasks: [first, first + 1].map(|t| format!("task{t}")).to_vec(),
            min_total: None,
            max_total: Some(1_000),
        };
        problem.groups = vec![group(0), group(1)];
        let problems = [AnyProblem::OneClass(problem.into())];
        let [exact, _] = pair();
        let steps = contender("steps", Box::new(Steps(Exact::new(BigM::Corrected))));
        let mut contenders = [exact, steps];
        let limits = Limits::default();
        let found = compare(&problems, &mut contenders, &limits, &Unobserved).unwrap();
        assert!(found.answers[0].status.is_refused());
        assert_eq!(found.answers[1].gap_to_optimum, None);
        assert_eq!(found.answers[1].first_incumbent_us, Some(1_000.0));
        let [first, last] = &found.incumbents[..] else {
            panic!("{:?}", found.incumbents);
        };
        assert_eq!((first.after_us, last.after_us), (1_000.0, 2_000.0));
        let expected = (last.objective - first.objective) / last.objective;
        assert_eq!((first.gap, last.gap), (expected, 0.0));
        let lines = summarise(&found.answers, &contenders);
        let firsts = [lines[0].first_incumbent_us, lines[1].first_incumbent_us];
        assert_eq!(firsts, [None, Some(1_000.0)]);
    }
}
