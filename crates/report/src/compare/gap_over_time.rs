//! The mean gap of each solver's best plan so far, as a function of the time since the start of a solve.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_domain::results::compare::{AnswerRow, IncumbentRow};
use gleaner_runs::read::CompareRun;

/// Gap of a solver that has no plan yet. Larger gaps count as this value.
const NO_PLAN: f64 = 1.0;

/// The mean gap of a solver's best plans so far, as a function of time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GapOverTime {
    pub solver: Arc<str>,
    /// Number of problems over which the mean is taken.
    pub problems: usize,
    /// The times at which the mean falls, in seconds since the start of a solve, each with the new mean. Before the
    /// first of these times, the mean is 1.
    pub falls: Vec<(f64, f64)>,
}

impl GapOverTime {
    /// The mean gap at `seconds` after the start of a solve.
    pub fn gap_at(&self, seconds: f64) -> f64 {
        let before = self.falls.partition_point(|(at, _)| *at <= seconds);
        before
            .checked_sub(1)
            .map_or(NO_PLAN, |last| self.falls[last].1)
    }
}

/// The mean gaps over time, in the order of the solvers. A solver's mean covers the problems that it accepted and for
/// which at least one solver has a plan. A solver without such problems is left out.
pub(super) fn gaps_over_time(run: &CompareRun) -> Vec<GapOverTime> {
    let problems = problems(&run.answers);
    let mut steps = steps(&run.incumbents);
    let of = |solver: &Arc<str>| {
        let problems = problems.get(solver).copied()?;
        let steps = steps.remove(solver).unwrap_or_default();
        Some(GapOverTime {
            solver: solver.clone(),
            problems,
            falls: falls(steps, problems),
        })
    };
    run.solvers
        .iter()
        .map(|row| &row.solver)
        .filter_map(of)
        .collect()
}

/// For each solver, the number of problems that its mean covers.
fn problems(answers: &[AnswerRow]) -> BTreeMap<Arc<str>, usize> {
    let mut counts = BTreeMap::new();
    let by_problem = answers.chunk_by(|a, b| a.problem == b.problem);
    for answers in by_problem.filter(|all| all.iter().any(|answer| answer.objective.is_some())) {
        for answer in answers.iter().filter(|answer| !answer.status.is_refused()) {
            *counts.entry(answer.solver.clone()).or_default() += 1;
        }
    }
    counts
}

/// The time in seconds at which a new plan reduced the gap of a problem, and the amount of the reduction.
type Step = (f64, f64);

/// Returns the steps of each solver, from all problems.
fn steps(incumbents: &[IncumbentRow]) -> BTreeMap<Arc<str>, Vec<Step>> {
    let mut steps: BTreeMap<Arc<str>, Vec<Step>> = BTreeMap::new();
    // If the time goes backwards, the rows belong to another problem with the same name.
    let is_same = |a: &IncumbentRow, b: &IncumbentRow| {
        a.problem == b.problem && a.solver == b.solver && a.after_us <= b.after_us
    };
    for solve in incumbents.chunk_by(is_same) {
        let mut gap = NO_PLAN;
        for found in solve {
            if found.gap < gap {
                let steps = steps.entry(found.solver.clone()).or_default();
                steps.push((found.after_us / 1e6, gap - found.gap));
                gap = found.gap;
            }
        }
    }
    steps
}

/// Returns the mean gap over `problems` problems after each step. Steps at the same time count as one step.
fn falls(mut steps: Vec<Step>, problems: usize) -> Vec<(f64, f64)> {
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut closed = 0.0;
    let together = steps.chunk_by(|a, b| a.0 == b.0);
    let fall = |same: &[Step]| {
        closed += same.iter().map(|step| step.1).sum::<f64>();
        // Rounding errors in the sum may make the mean gap slightly negative.
        let gap = (NO_PLAN - closed / problems as f64).max(0.0);
        (same[0].0, gap)
    };
    together.map(fall).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gleaner_domain::results::compare::{AnswerStatus, SolverRow, Status};

    fn answer(problem: &str, solver: &str, status: AnswerStatus, has_plan: bool) -> AnswerRow {
        AnswerRow {
            problem: problem.into(),
            tasks: 1,
            nodes: 1,
            solver: solver.into(),
            status,
            objective: has_plan.then_some(1.0),
            proven_gap: None,
            gap_to_optimum: None,
            micros: 1.0,
            first_incumbent_us: None,
        }
    }

    fn incumbent(problem: &str, solver: &str, after_us: f64, gap: f64) -> IncumbentRow {
        IncumbentRow {
            problem: problem.into(),
            solver: solver.into(),
            after_us,
            objective: 1.0,
            gap,
        }
    }

    fn solver(name: &str) -> SolverRow {
        SolverRow {
            solver: name.into(),
            problems: 0,
            refused: 0,
            optimal: 0,
            without_plan: 0,
            objective: 0.0,
            mean_gap: None,
            worst_gap: None,
            median_us: 0.0,
            p99_us: 0.0,
            first_incumbent_us: None,
        }
    }

    /// A comparison of the solvers `a`, `b` and `c` on four problems: p, q, r and s. `a` finds two plans for p, one for
    /// q and none for r. `b` refuses p, and finds two plans for q and one for r. No solver finds a plan for s, and `c`
    /// refuses all problems.
    pub fn compared() -> CompareRun {
        let solved = |problem, solver, has_plan| {
            let status = AnswerStatus::Answered(Status::Feasible);
            answer(problem, solver, status, has_plan)
        };
        let refused = |problem, solver| {
            let status = AnswerStatus::Refused("no".into());
            answer(problem, solver, status, false)
        };
        let mut answers = Vec::new();
        for (problem, a, b) in [
            ("p", true, None),
            ("q", true, Some(true)),
            ("r", false, Some(true)),
            ("s", false, Some(false)),
        ] {
            answers.push(solved(problem, "a", a));
            answers.push(b.map_or(refused(problem, "b"), |plan| solved(problem, "b", plan)));
            answers.push(refused(problem, "c"));
        }
        CompareRun {
            answers,
            solvers: ["a", "b", "c"].map(solver).to_vec(),
            incumbents: vec![
                incumbent("p", "a", 1e3, 0.5),
                incumbent("p", "a", 4e3, 0.0),
                incumbent("q", "a", 2e3, 0.2),
                incumbent("q", "b", 1e3, 3.0),
                incumbent("q", "b", 5e6, 0.4),
                incumbent("r", "b", 5e6, 0.0),
            ],
            programs: Vec::new(),
            complete: true,
        }
    }

    // Derived by hand. `a` accepts p, q and r. The mean gap of `a` is 1 at first, (0.5 + 1 + 1) / 3 after 1 ms, (0.5 +
    // 0.2 + 1) / 3 after 2 ms, and (0 + 0.2 + 1) / 3 after 4 ms. `b` accepts q and r. One of `b`'s plans has a gap of
    // 3, which counts as 1. The mean gap of `b` is therefore 1 at first, and (0.4 + 0) / 2 after 5 s.
    #[test]
    fn means_are_over_the_problems_that_a_solver_took_and_that_have_a_plan() {
        let gaps = gaps_over_time(&compared());
        let names: Vec<&str> = gaps.iter().map(|gap| &*gap.solver).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((gaps[0].problems, gaps[1].problems), (3, 2));
        let expected = [
            vec![(1e-3, 2.5 / 3.0), (2e-3, 1.7 / 3.0), (4e-3, 0.4)],
            vec![(5.0, 0.2)],
        ];
        for (gap, expected) in gaps.iter().zip(expected) {
            assert_eq!(gap.falls.len(), expected.len(), "{gap:?}");
            for (found, expected) in gap.falls.iter().zip(expected) {
                assert_eq!(found.0, expected.0);
                assert!((found.1 - expected.1).abs() < 1e-12, "{gap:?}");
            }
        }
        assert_eq!(gaps[0].gap_at(0.5e-3), 1.0);
        assert_eq!(gaps[0].gap_at(1e-3), gaps[0].falls[0].1);
        assert_eq!(gaps[0].gap_at(9.0), gaps[0].falls[2].1);
    }

    // Small fixed example: two problems with the same name, one directly after the other.
    #[test]
    fn a_time_before_the_last_is_of_another_solve() {
        let mut run = compared();
        run.answers.truncate(1);
        run.answers.push(run.answers[0].clone());
        run.incumbents = vec![incumbent("p", "a", 4e3, 0.0), incumbent("p", "a", 2e3, 0.0)];
        let gaps = gaps_over_time(&run);
        assert_eq!(gaps[0].falls, [(2e-3, 0.5), (4e-3, 0.0)]);
    }
}
