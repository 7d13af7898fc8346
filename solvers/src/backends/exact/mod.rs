//! The exact solver: proven optimal, no solver library.
//!
//! The problem is a multiple-choice knapsack over counts. Four steps:
//! 1. [`shape`]: every task's value as a function of its count, piecewise linear
//!    between a few vertices.
//! 2. [`relaxation`]: the LP relaxation over the functions' concave envelopes
//!    gives a price λ per node and an upper bound U. Where the envelope touches
//!    the function at the break, the relaxed plan is a real one: done.
//! 3. Otherwise a count's *loss* is what it gives up against the best count at
//!    price λ; U − objective = Σ losses + λ · unused nodes. A plan is known, so
//!    counts that lose more than the gap cannot be part of a better plan.
//! 4. [`search`]: dynamic programming over (task, nodes used) minimises the total
//!    loss over what is left, within the window of states that can still win.
//!
//! Steps 1 to 3 take O(P log P) for P curve points in all, step 4 at worst
//! O(pieces × nodes) per task, whatever the number of counts (against
//! O(counts × nodes) of the plain [`recursion`](crate::recursion)); usually it
//! sees few tasks and few states.
//!
//! Values are floats: where some exceed those of the optimum by ten orders of magnitude, the
//! optimum is not told from other plans by their difference to these, and the answer is called
//! feasible, with a bound.
//!
//! The time limit ends the search, and so does a problem whose search would take more
//! than about a gibibyte (counts in the millions on curves far from concave): the relaxation's
//! plan comes back then, with its bound.
//!
//! **Max-min.** Where the goal is [`Goal::MaxMin`], [`fair`] first finds how many tasks can
//! run and the greatest least share, by bisection; the steps above then find the best total
//! among the plans that keep both: counts of a lesser share are struck out, and where not
//! all tasks can run a task that does earns more than all else together.
//!
//! **Ties.** Leaving a task as it is earns a bonus of 1e-11 of the best single
//! task's value. Among plans closer than that, the one that leaves more tasks as
//! they are wins; what is still tied is settled by the order of tasks and counts,
//! so that equal problems get equal answers.

mod fair;
mod relaxation;
mod search;
mod shape;

use std::time::Instant;

use super::precision;
use crate::solver::{BigM, EXACT, Limits, SolveError, Solver, refuse_groups};
use crate::{Allocation, Goal, Problem, Status, range};
use fair::Levels;
use relaxation::Relaxation;
use search::{Case, Search};
use shape::Shapes;

/// The exact solver. Keeps its buffers between calls; answers do not depend on them.
#[derive(Debug, Default)]
pub struct Exact {
    big_m: BigM,
    shapes: Shapes,
    levels: Levels,
    relaxation: Relaxation,
    search: Search,
    counts: Vec<u32>,
}

impl Exact {
    /// An exact solver that obeys the change cap `big_m` implies.
    pub fn new(big_m: BigM) -> Self {
        Exact {
            big_m,
            ..Exact::default()
        }
    }

    /// Solves into the internal buffer: the optimal counts, or `None` where no plan exists.
    ///
    /// Allocates nothing once the buffers have grown. `problem` must be sound, its numbers
    /// within the [`range`], and its groups are ignored. Where the search would need more than
    /// about a gibibyte the counts are feasible but not proven; [`Solver::solve`] tells.
    pub fn optimal_counts(&mut self, problem: &Problem) -> Option<&[u32]> {
        self.run(problem, None)?;
        Some(&self.counts)
    }

    /// Solves into the internal buffer; how far the plan may be from the optimum, 0 where
    /// it is proven, or `None` where no plan exists.
    fn run(&mut self, problem: &Problem, deadline: Option<Instant>) -> Option<f64> {
        if !self.shapes.build(problem, self.big_m) {
            return None;
        }
        if problem.goal == Goal::MaxMin {
            let floor = self.levels.floor(&self.shapes, problem)?;
            self.shapes.restrict(problem, &self.levels.best, floor);
        }
        self.shapes.favour_staying(problem);
        let gap = self
            .relaxation
            .solve(&self.shapes, problem.nodes, &mut self.counts)?;
        if gap <= self.shapes.resolution() {
            return Some(0.0);
        }
        let case = Case {
            shapes: &self.shapes,
            nodes: problem.nodes,
            price: self.relaxation.price(),
            gap,
            deadline,
        };
        let proven = self.search.improve(&case, &mut self.counts);
        Some(if proven { 0.0 } else { gap })
    }

    /// How far the plan found may be from the optimum because of rounding; 0 where that does
    /// not matter.
    fn doubt(&self, problem: &Problem, objective: f64) -> f64 {
        let doubt = (self.shapes).uncertainty(problem.nodes, self.relaxation.price());
        match precision::matters(problem, &self.counts, objective, doubt) {
            true => doubt,
            false => 0.0,
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
        refuse_groups(EXACT, problem)?;
        range::check(problem)?;
        let deadline = Instant::now().checked_add(limits.time);
        let Some(gap) = self.run(problem, deadline) else {
            return Ok(Allocation::without_plan(Status::Infeasible));
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
}
