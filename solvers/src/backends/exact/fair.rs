//! The greatest least share, by bisection over what shares are attainable.
//!
//! At a level ℓ every task needs a fewest count of share ≥ ℓ to run; as many tasks as
//! possible run where those with the smallest such counts do, and the least of their shares
//! is a level that is attained. How many run falls with ℓ, so the interval in which the
//! greatest level lies is halved, and its low end jumps to a level attained, until the next
//! float above it is out of reach: the level is exactly the share of some task at some count.

use super::shape::Shapes;
use crate::Problem;

/// What every plan that is max-min fair keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// Least share of a task that runs.
    pub level: f64,
    /// Whether some tasks get nothing, however the nodes are dealt.
    pub some_rest: bool,
}

/// Finds the floor; keeps its buffers.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// Best rate of every task.
    pub best: Vec<f64>,
    /// Share at every vertex of the shapes, flat.
    shares: Vec<f64>,
    /// Fewest counts of the tasks that may rest, and the shares there.
    needed: Vec<(u32, f64)>,
}

/// What can be had at a level.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// Tasks that run.
    running: usize,
    /// Least share among them where each has its fewest nodes; infinite where none runs.
    least: f64,
}

impl Levels {
    /// The floor of `problem`; `None` where there is no plan at all.
    pub fn floor(&mut self, shapes: &Shapes, problem: &Problem) -> Option<Floor> {
        self.measure(shapes, problem);
        let any = self.reach(shapes, problem, f64::NEG_INFINITY)?;
        Some(Floor {
            level: self.greatest_level(shapes, problem, any),
            some_rest: any.running < problem.tasks.len(),
        })
    }

    fn measure(&mut self, shapes: &Shapes, problem: &Problem) {
        self.best.clear();
        self.best
            .extend(problem.tasks.iter().map(|t| t.best_rate()));
        self.shares.clear();
        for (j, task) in problem.tasks.iter().enumerate() {
            let share = |count| task.share_of(problem.t_fwd, self.best[j], count);
            let vertices = shapes.of(j).iter();
            self.shares.extend(vertices.map(|v| share(v.count)));
        }
    }

    /// The greatest level at which as many tasks run as at `any`.
    fn greatest_level(&mut self, shapes: &Shapes, problem: &Problem, any: Reach) -> f64 {
        if any.running == 0 {
            return any.least;
        }
        let mut attained = |level| {
            let reach = self.reach(shapes, problem, level)?;
            (reach.running == any.running).then_some(reach.least)
        };
        // No share is above 1.
        let (mut low, mut high) = (any.least, 1.0f64.next_up());
        while let Some(higher) = attained(low.next_up()) {
            low = higher;
            let middle = low + (high - low) / 2.0;
            match attained(middle) {
                Some(level) => low = low.max(level),
                None => high = middle,
            }
        }
        low
    }

    /// What can be had at a share of `level` or more; `None` where tasks that may not
    /// rest cannot have it.
    fn reach(&mut self, shapes: &Shapes, problem: &Problem, level: f64) -> Option<Reach> {
        self.needed.clear();
        let mut left = u64::from(problem.nodes);
        let mut reach = Reach {
            running: 0,
            least: f64::INFINITY,
        };
        let mut first = 0;
        for j in 0..shapes.tasks() {
            let vertices = shapes.of(j);
            let fewest = self.fewest(shapes, problem, j, first, level);
            first += vertices.len();
            if vertices[0].count == 0 {
                self.needed.extend(fewest);
            } else {
                let (count, share) = fewest?;
                left = left.checked_sub(u64::from(count))?;
                reach.add(share);
            }
        }
        self.needed.sort_unstable_by_key(|&(count, _)| count);
        for &(count, share) in &self.needed {
            let Some(rest) = left.checked_sub(u64::from(count)) else {
                break;
            };
            left = rest;
            reach.add(share);
        }
        Some(reach)
    }

    /// Fewest nodes above 0 that give task `j` a share of `level` or more, and the share;
    /// its first vertex is the one at `first` of all.
    fn fewest(
        &self,
        shapes: &Shapes,
        problem: &Problem,
        j: usize,
        first: usize,
        level: f64,
    ) -> Option<(u32, f64)> {
        let vertices = shapes.of(j);
        let shares = &self.shares[first..first + vertices.len()];
        let reached = |i: &usize| vertices[*i].count > 0 && shares[*i] >= level;
        let i = (0..vertices.len()).find(reached)?;
        if !vertices[i].joined {
            return Some((vertices[i].count, shares[i]));
        }
        // Between joined vertices the share is linear, and the one before is below.
        let share = |count| problem.tasks[j].share_of(problem.t_fwd, self.best[j], count);
        let (low, high) = (vertices[i - 1].count, vertices[i].count);
        let count = first_count(low, high, |count| share(count) >= level);
        Some((count, share(count)))
    }
}

/// The first count above `low` that `holds`, where it holds at `high` and, once it holds,
/// further on.
pub(super) fn first_count(mut low: u32, mut high: u32, holds: impl Fn(u32) -> bool) -> u32 {
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

impl Reach {
    fn add(&mut self, share: f64) {
        self.running += 1;
        self.least = self.least.min(share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_count_is_found() {
        for first in 4..=20 {
            assert_eq!(first_count(3, 20, |count| count >= first), first);
        }
    }
}
