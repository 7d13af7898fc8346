//! The plans that solvers find during a solve, and the gaps between these plans and the best plan.

use std::time::Duration;

use gleaner_classes::AnyAnswer;
use gleaner_solvers::Merit;
use gleaner_solvers::range::NOTHING;

use super::row::Answered;
use gleaner_domain::results::compare::IncumbentRow;

/// Maximum number of plans that are kept for a solve. Once this number is reached, a new plan
/// replaces the last kept plan.
const MOST: usize = 1_000;

/// A plan that was better than all earlier plans.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Time since the start of the solve.
    after: Duration,
    pub plan: AnyAnswer,
    merit: Merit,
}

impl Found {
    /// Microseconds from the start of the solve until the plan was found.
    pub fn micros(&self) -> f64 {
        self.after.as_nanos() as f64 / 1e3
    }
}

/// Keeps the plans of a solve that are better than all earlier plans.
#[derive(Default)]
pub(super) struct Watch {
    pub found: Vec<Found>,
}

impl Watch {
    pub fn see(&mut self, after: Duration, plan: AnyAnswer) {
        let Some(merit) = plan.merit() else { return };
        if self.found.last().is_some_and(|last| last.merit >= merit) {
            return;
        }
        self.found.truncate(MOST - 1);
        self.found.push(Found { after, plan, merit });
    }
}

/// Relative gap between an answer and the best answer. Under a max-min goal, it is the gap in the
/// lowest share of any task, or 1 if fewer tasks run than in the best answer. Under other goals, it
/// is the gap in the objective.
pub(super) fn gap_to(best: &AnyAnswer, answer: &AnyAnswer) -> Option<f64> {
    let (best, found, nothing) = match (best.fairness(), answer.fairness()) {
        (Some(best), Some(found)) if found.running < best.running => return Some(1.0),
        (Some(best), Some(found)) => (best.least_share?, found.least_share?, 1e-9),
        _ => (best.objective()?, answer.objective()?, NOTHING),
    };
    let size = best.abs().max(found.abs()).max(nothing);
    Some((best - found).max(0.0) / size)
}

/// The rows of a problem, ordered by contender and time. `optimum` is the exact solver's answer;
/// `None` if that solver found no optimum. Without an optimum, gaps are relative to the best plan
/// of all contenders.
pub(super) fn rows(optimum: Option<&AnyAnswer>, answers: &[Option<Answered>]) -> Vec<IncumbentRow> {
    let answers = || answers.iter().flatten();
    let best = answers().flat_map(|answer| &answer.found).reduce(better);
    let Some(best) = optimum.or(best.map(|found| &found.plan)) else {
        return Vec::new();
    };
    let row = |answer: &Answered, found: &Found| IncumbentRow {
        problem: answer.row.problem.clone(),
        solver: answer.row.solver.clone(),
        after_us: found.micros(),
        objective: found.plan.objective().unwrap_or_default(),
        // If there is no share to compare, no task runs in either plan, so the gap is 0.
        gap: gap_to(best, &found.plan).unwrap_or(0.0),
    };
    let found = answers().flat_map(|answer| answer.found.iter().map(move |found| (answer, found)));
    found.map(|(answer, found)| row(answer, found)).collect()
}

fn better<'f>(one: &'f Found, other: &'f Found) -> &'f Found {
    if other.merit > one.merit { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_solvers::{Allocation, Problem, Status, synthetic};

    /// The plans that are kept, and their times, if the plans arrive at intervals of a millisecond.
    fn kept(problem: &Problem, plans: &[Vec<u32>]) -> Vec<(u128, Vec<u32>)> {
        let mut watch = Watch::default();
        for (place, counts) in (1..).zip(plans) {
            let plan = Allocation::with_plan(problem, Status::Feasible, counts.clone(), None);
            watch.see(Duration::from_millis(place), AnyAnswer::OneClass(plan));
        }
        let kept = watch.found.into_iter();
        let counts = |plan| match plan {
            AnyAnswer::OneClass(allocation) => allocation.counts.unwrap(),
            AnyAnswer::Classes(_) => unreachable!(),
        };
        kept.map(|found| (found.after.as_millis(), counts(found.plan)))
            .collect()
    }

    // Small fixed example: a task that earns 10 per second on each of its nodes over a window of
    // 100 seconds.
    fn problem() -> Problem {
        let mut problem = synthetic::problem(1, 4, 0);
        problem.t_fwd = 100.0;
        let task = &mut problem.tasks[0];
        (task.min_nodes, task.max_nodes, task.current) = (1, 2_000, 0);
        (task.rescale_up, task.weight) = (0.0, 1.0);
        task.curve_nodes = vec![0, 2_000].into();
        task.curve_objective = vec![0.0, 20_000.0].into();
        problem.nodes = 2_000;
        problem
    }

    #[test]
    fn only_better_plans_are_kept() {
        let plans = [1, 1, 0, 3, 2, 4].map(|count| vec![count]);
        let expected = [(1, vec![1]), (4, vec![3]), (6, vec![4])];
        assert_eq!(kept(&problem(), &plans), expected);
    }

    #[test]
    fn of_very_many_plans_the_last_is_kept() {
        let plans: Vec<Vec<u32>> = (1..=1_500).map(|count| vec![count]).collect();
        let kept = kept(&problem(), &plans);
        assert_eq!(kept.len(), MOST);
        assert_eq!(kept[MOST - 2..], [(999, vec![999]), (1_500, vec![1_500])]);
    }
}
