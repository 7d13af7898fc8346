//! Problems with nested groups.
//!
//! 1. [`Tree::ranges`] computes the range of counts that the limits allow for every task. Counts outside these ranges
//!    are removed, and the ranges are computed again, until nothing changes or [`ROUNDS`] is reached. No plan contains
//!    the removed counts, and their values would only increase the allowance for rounding errors. For example, if the
//!    limits allow only one plan, and this plan is worth 0, no value other than 0 remains. The optimum 0 is then
//!    proven.
//! 2. The relaxation and, if necessary, the search find the best plan without groups. If that plan
//!    respects the limits of the groups, it is also the best plan with groups. Limits that are not binding therefore
//!    cost little time.
//! 3. Otherwise [`Tree::solve`] finds the best plan within the limits.
//!
//! The relaxation without groups gives an upper bound on all plans. If step 3 gives up, two plans remain: the
//! relaxation's plan and the plan that changes the current allocation least. The answer is the better plan among those
//! that respect the limits.

use std::time::Instant;

use super::relaxation::value_at;
use super::tree::{self, Case};
use super::{Ended, Exact};
use crate::nest::Nest;
use crate::solver::SolveError;
use crate::{Goal, Problem};

/// Maximum number of times that the ranges of the counts are narrowed.
const ROUNDS: usize = 16;

/// Checks that the exact solver supports the groups of `problem`.
///
/// # Errors
/// [`SolveError::FairGroups`] if the problem has groups and a max-min goal, and [`SolveError::CrossingGroups`] if its
/// groups cross.
pub(crate) fn accepts(problem: &Problem) -> Result<(), SolveError> {
    nest(problem).map(|_| ())
}

/// The tree of the problem's groups; `None` if it has no groups.
///
/// # Errors
/// Same as [`accepts`].
pub(super) fn nest(problem: &Problem) -> Result<Option<Nest>, SolveError> {
    let Some(group) = problem.groups.first() else {
        return Ok(None);
    };
    if problem.goal == Goal::MaxMin {
        let group = group.name.clone();
        return Err(SolveError::FairGroups { group });
    }
    let name = |g: usize| problem.groups[g].name.clone();
    match Nest::of(problem) {
        Ok(nest) => Ok(Some(nest)),
        Err((first, second)) => Err(SolveError::CrossingGroups {
            first: name(first),
            second: name(second),
        }),
    }
}

impl Exact {
    /// Finds the plan with the greatest total within the limits of `nest`.
    pub(super) fn run_within(
        &mut self,
        problem: &Problem,
        nest: &Nest,
        deadline: Option<Instant>,
    ) -> Ended {
        let Some(gap) = self.relax_within(problem, nest) else {
            return Ended::WithoutPlan;
        };
        if nest.admits(&self.counts)
            && self.improve(problem, gap, deadline) == 0.0
            && nest.admits(&self.counts)
        {
            return Ended::WithPlan(0.0);
        }
        let case = Case {
            shapes: &self.shapes,
            nest,
            deadline,
        };
        match self.tree.solve(&case, &mut self.counts) {
            tree::Ended::WithPlan => {
                self.size = self.tree.size();
                Ended::WithPlan(0.0)
            }
            tree::Ended::WithoutPlan => Ended::WithoutPlan,
            tree::Ended::GaveUp => self.fall_back(problem, nest),
        }
    }

    /// Solves the relaxation without groups, over the counts that the limits allow. Returns the gap, like
    /// [`Exact::relax`].
    fn relax_within(&mut self, problem: &Problem, nest: &Nest) -> Option<f64> {
        if !self.shapes.build(problem, self.big_m) {
            return None;
        }
        for _ in 0..ROUNDS {
            let ranges = self.tree.ranges(&self.shapes, nest)?;
            if !self.shapes.limit(problem, ranges)? {
                break;
            }
        }
        self.relax(problem)
    }

    /// Answers with the relaxation's plan or [`Problem::stay_put`], whichever is better among those that respect the
    /// limits. Gives up if neither respects them.
    fn fall_back(&mut self, problem: &Problem, nest: &Nest) -> Ended {
        let relaxed = (self.relaxation).solve(&self.shapes, problem.nodes, &mut self.counts);
        let Some(gap) = relaxed else {
            return Ended::WithoutPlan;
        };
        let bound = problem.objective(&self.counts) + gap;
        let plans = [problem.stay_put(), Some(self.counts.clone())];
        let feasible = plans
            .into_iter()
            .flatten()
            .filter(|plan| self.is_feasible(nest, plan))
            .map(|plan| (problem.objective(&plan), plan));
        let best = feasible.max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((objective, plan)) = best else {
            return Ended::GaveUp;
        };
        self.counts = plan;
        Ended::WithPlan((bound - objective).max(0.0))
    }

    /// Whether a plan respects all limits and contains only allowed counts.
    fn is_feasible(&self, nest: &Nest, plan: &[u32]) -> bool {
        let mut tasks = plan.iter().zip(self.shapes.group_of_tasks());
        let is_allowed = |(&count, &g): (&u32, &u32)| {
            let vertices = self.shapes.of(g as usize);
            value_at(vertices, count).is_some()
        };
        nest.admits(plan) && tasks.all(is_allowed)
    }
}
