//! The exact solver: finds proven optima without a solver library.
//!
//! The problem is a multiple-choice knapsack over counts. [`alike`] groups the tasks that differ
//! only in their names. Values that depend on one task alone are computed once for each group. The
//! solver has four steps:
//! 1. [`shape`]: every task's value as a function of its count, piecewise linear between a few
//!    vertices.
//! 2. [`relaxation`]: the LP relaxation over the functions' concave envelopes gives a price λ per node and an upper
//!    bound U. If the envelope coincides with the function where the nodes run out, the relaxed plan is feasible, and
//!    the problem is solved.
//! 3. Otherwise every count has a *loss*: the amount by which it is worth less at price λ than the task's best
//!    count. For every plan, U − objective = Σ losses + λ · unused nodes. The relaxation also yields a plan. Counts
//!    that lose more than this plan's gap to U cannot be part of a better plan, so they are dropped.
//! 4. [`search`]: dynamic programming over (task, nodes used) minimises the total loss over the remaining counts. It
//!    visits only states that can still lead to a better plan than the known plan.
//!
//! Steps 1 to 3 take O(P log P + tasks), where P is the number of curve points of all groups. Step 4
//! takes at worst O(pieces × nodes) per task, whatever the number of counts. The plain [`recursion`](crate::recursion)
//! takes O(counts × nodes). Usually few tasks and few states remain for step 4.
//!
//! The relaxation follows Sinha and Zoltners, "The multiple-choice knapsack problem", Operations Research
//! 27 (1979). The removal of counts by the gap, before dynamic programming, follows Pisinger, "A minimal
//! algorithm for the multiple-choice knapsack problem", European Journal of Operational Research 83
//! (1995).
//!
//! **Example.** Three tasks share 4 nodes. Task a earns 30 on 3 nodes, task b earns 8 on 1 node and
//! 15 on 2, and task c earns 18 on 2. The slopes of the envelopes are 10 for a, 8 and then 7 for b,
//! and 9 for c. The relaxation gives 3 nodes to a. One node remains. By slope, c is next, but its step needs two nodes,
//! so λ = 9 and U = 30 + 9 · 1 = 39. The plan gives the last node to b instead and is worth 38, a gap of 1. At λ = 9, a
//! without nodes loses 30 − 9 · 3 = 3, and b on 2 nodes loses 9 · 2 − 15 = 3. Both counts are dropped, so a keeps 3
//! nodes. The search finds that one node for b is the best use of the last node, and 38 is proven optimal.
//!
//! Values are floats. If some values are ten orders of magnitude above the optimum, differences
//! between plans near the optimum are lost to rounding. The answer is then reported only as feasible,
//! with a bound.
//!
//! The search ends at the time limit. It does not begin if it would take more than about a gibibyte of memory. This
//! can happen if counts are in the millions and curves are far from concave. In both cases the answer is the
//! relaxation's plan with its bound.
//!
//! **Max-min.** If the goal is [`Goal::MaxMin`], [`fair`] first finds how many tasks can run, and how high their least
//! share can be. The steps above then find the best total among the plans that attain both. Counts with a share below
//! that least share are removed. If not all tasks can run, every task that runs gets a reward that is greater than the
//! sum of all values.
//!
//! **Groups.** If the problem has nested groups, [`grouped`] first checks whether the best plan without
//! groups respects their limits. Otherwise [`tree`] finds the best plan that respects these limits, by dynamic
//! programming over the tree of groups. If that would take too much time or memory, the answer is a plan that was
//! already known, with the bound of the relaxation without groups. If no plan is known, the answer is
//! [`Status::Unknown`]. Groups that cross ([`Problem::crossing_groups`]), and groups under the goal [`Goal::MaxMin`],
//! are rejected.
//!
//! **Ties.** A task that keeps its count earns a bonus of 1e-11 times the greatest value of any task. Among plans whose
//! values differ by less than this bonus, the plan that leaves more tasks unchanged wins. Remaining ties are broken by
//! the order of tasks and counts, so that equal problems get equal answers.

mod alike;
mod fair;
mod grouped;
mod layers;
mod pieces;
mod relaxation;
mod search;
mod shape;
mod tree;

use std::time::Instant;

use super::precision;
use crate::solver::{BigM, Incumbent, Limits, SolveError, Solver};
use crate::{Allocation, Goal, Problem, Status, range};
use fair::Levels;
use relaxation::Relaxation;
use search::{Case, Search};
use shape::Shapes;
use tree::Tree;

pub(crate) use grouped::accepts;

/// The exact solver. It keeps its buffers between calls and recognises unchanged tasks, but its
/// answers do not depend on earlier problems.
#[derive(Debug, Default)]
pub struct Exact {
    big_m: BigM,
    shapes: Shapes,
    levels: Levels,
    relaxation: Relaxation,
    search: Search,
    tree: Tree,
    counts: Vec<u32>,
    /// Upper bound on the absolute value of what any task contributes to the sums from which `counts` was computed.
    size: f64,
}

/// The outcome of a solve.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    /// The best plan found is in [`Exact::counts`]. The number is the maximum distance of its objective from the
    /// optimum; 0 if the plan is proven optimal.
    WithPlan(f64),
    /// There is no plan.
    WithoutPlan,
    /// No plan was found, although one may exist.
    GaveUp,
}

impl Exact {
    /// Creates an exact solver that respects the cap on changes that `big_m` implies.
    pub fn new(big_m: BigM) -> Self {
        Exact {
            big_m,
            ..Exact::default()
        }
    }

    /// Returns the optimal counts, in an internal buffer, or `None` if there is no plan.
    ///
    /// Once the buffers have grown, this function allocates memory only for tasks that are unlike all earlier tasks.
    /// `problem` must be valid, and its numbers must be in [`range`]. Its groups are ignored. If the search would
    /// need more than about a gibibyte, the counts are feasible but not proven optimal. Only [`Solver::solve`]
    /// reports whether they are proven optimal.
    pub fn optimal_counts(&mut self, problem: &Problem) -> Option<&[u32]> {
        match self.run(problem, None, &mut |_| {}) {
            Ended::WithPlan(_) => Some(&self.counts),
            Ended::WithoutPlan | Ended::GaveUp => None,
        }
    }

    /// Solves a problem and ignores its groups. `before_search` is called with the relaxation's plan if
    /// this plan is not proven optimal.
    fn run(
        &mut self,
        problem: &Problem,
        deadline: Option<Instant>,
        before_search: &mut dyn FnMut(&[u32]),
    ) -> Ended {
        if !self.shapes.build(problem, self.big_m) {
            return Ended::WithoutPlan;
        }
        if problem.goal == Goal::MaxMin {
            let Some(floor) = self.levels.floor(&self.shapes, problem) else {
                return Ended::WithoutPlan;
            };
            self.shapes.restrict(problem, &self.levels.best, floor);
        }
        let Some(gap) = self.relax(problem) else {
            return Ended::WithoutPlan;
        };
        if gap == 0.0 {
            return Ended::WithPlan(0.0);
        }
        before_search(&self.counts);
        Ended::WithPlan(self.improve(problem, gap, deadline))
    }

    /// Solves the relaxation. Writes the plan that it finds to [`Exact::counts`] and returns how
    /// far its objective may be from the optimum; `None` if there is no plan.
    fn relax(&mut self, problem: &Problem) -> Option<f64> {
        self.shapes.favour_staying(problem);
        let gap = self
            .relaxation
            .solve(&self.shapes, problem.nodes, &mut self.counts)?;
        self.size = self.shapes.largest() + self.relaxation.price() * f64::from(problem.nodes);
        Some(if gap <= self.shapes.resolution() {
            0.0
        } else {
            gap
        })
    }

    /// Searches for the best plan if the relaxation's plan has a gap. Returns the remaining gap.
    fn improve(&mut self, problem: &Problem, gap: f64, deadline: Option<Instant>) -> f64 {
        let case = Case {
            shapes: &self.shapes,
            nodes: problem.nodes,
            price: self.relaxation.price(),
            gap,
            deadline,
        };
        if gap == 0.0 || self.search.improve(&case, &mut self.counts) {
            0.0
        } else {
            gap
        }
    }

    /// Solves `problem`. `before_search` is called as in [`Exact::run`].
    fn answer(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        before_search: &mut dyn FnMut(&[u32]),
    ) -> Result<Allocation, SolveError> {
        let nest = grouped::nest(problem)?;
        range::check(problem)?;
        let deadline = Instant::now().checked_add(limits.time);
        let ended = match &nest {
            None => self.run(problem, deadline, before_search),
            Some(nest) => self.run_within(problem, nest, deadline),
        };
        let gap = match ended {
            Ended::WithPlan(gap) => gap,
            Ended::WithoutPlan => return Ok(Allocation::without_plan(Status::Infeasible)),
            Ended::GaveUp => return Ok(Allocation::without_plan(Status::Unknown)),
        };
        let mut answer = Allocation::with_plan(problem, Status::Optimal, self.counts.clone(), None);
        let doubt = |objective| self.doubt(problem, objective);
        let gap = gap + answer.objective.map_or(0.0, doubt);
        if gap > 0.0 {
            answer.status = Status::Feasible;
        }
        answer.bound = answer.objective.map(|objective| objective + gap);
        Ok(answer)
    }

    /// The possible distance of the plan from the optimum, caused by rounding and by the bonus of unchanged tasks; 0 if
    /// the distance is negligible.
    fn doubt(&self, problem: &Problem, objective: f64) -> f64 {
        let doubt = self.shapes.uncertainty(self.size);
        if precision::matters(problem, &self.counts, objective, doubt) {
            doubt
        } else {
            0.0
        }
    }
}

impl Solver for Exact {
    fn name(&self) -> &str {
        match self.big_m {
            BigM::Corrected => "exact",
            BigM::Paper => "exact-paper-big-m",
        }
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        self.answer(problem, limits, &mut |_| {})
    }

    /// Reports the relaxation's plan and then the answer, both after the search. The search compares sums of losses. If
    /// the two plans tie, the search may therefore choose the plan with the smaller objective. The difference is a
    /// rounding error or the bonus for tasks that keep their counts. If the relaxation's plan has the greater
    /// objective, only the answer is reported, so that no reported plan is better than the answer. With groups, only
    /// the answer is reported.
    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        let clock = Instant::now();
        let mut first = None;
        let answer = self.answer(problem, limits, &mut |counts| {
            let after = clock.elapsed();
            let plan = Allocation::with_plan(problem, Status::Feasible, counts.to_vec(), None);
            first = Some(Incumbent { after, plan });
        })?;
        if let Some(first) = first.filter(|first| first.plan.objective <= answer.objective) {
            observer(first);
        }
        if answer.counts.is_some() {
            observer(Incumbent {
                after: clock.elapsed(),
                plan: answer.clone(),
            });
        }
        Ok(answer)
    }
}
