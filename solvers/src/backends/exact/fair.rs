//! Maximises the least share among the running tasks, by bisection.
//!
//! At a level ℓ every task that runs must have a share of at least ℓ. Each task has a smallest
//! count that gives it a share of at least ℓ. To run as many tasks as possible, run the tasks for
//! which this count is smallest. The least of their shares is then a level that a plan attains.
//!
//! The higher ℓ is, the fewer tasks can run. The greatest level can therefore be found by bisection: the interval that
//! contains the greatest level is halved repeatedly. Its low end is always a level that some plan attains. The
//! bisection ends when no plan attains the next float above the low end. The low end is then the greatest level, and
//! equals the share of some task at some count.
//!
//! Example: two tasks on 5 nodes, whose shares on n nodes are n / 4 and n / 6. At the level 0.5 they
//! need 2 and 3 nodes, so both tasks run. At the next float above 0.5 they need 3 and 4 nodes, so only
//! one of them could run. The greatest level is therefore 0.5.

use super::shape::Shapes;
use crate::Problem;

/// The conditions that every max-min fair plan meets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// The least share that a running task must have.
    pub level: f64,
    /// Whether the tasks cannot all run at the same time. Every plan then leaves some tasks without nodes.
    pub some_rest: bool,
}

/// Finds the [`Floor`] of a problem. Keeps its buffers between problems.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// Best rate of a task in each group.
    pub best: Vec<f64>,
    /// Share at every vertex of the shapes, group after group.
    shares: Vec<f64>,
    /// For each group whose tasks may get no nodes: the smallest count at which a task's share reaches
    /// the level, the share at this count, and the number of tasks.
    needed: Vec<(u32, f64, u32)>,
}

/// The number of tasks that can run at a level, and their least share.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// Maximum number of tasks that can run together.
    running: usize,
    /// Least share among these tasks if each holds as few nodes as the level allows; infinite if none
    /// runs.
    least: f64,
}

impl Levels {
    /// The floor of `problem`; `None` if there is no plan at all.
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
        self.shares.clear();
        for g in 0..shapes.groups() {
            let task = shapes.sample(problem, g);
            let best = task.best_rate();
            let share = |count| task.share_of(problem.t_fwd, best, count);
            self.best.push(best);
            self.shares
                .extend(shapes.of(g).iter().map(|v| share(v.count)));
        }
    }

    /// The greatest level at which as many tasks can run as without a level. `any` is the [`Reach`] without a level.
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

    /// The number of tasks that can run if every share is at least `level`, and their least share. `None` if the tasks
    /// that must have nodes cannot all have this share at the same time.
    fn reach(&mut self, shapes: &Shapes, problem: &Problem, level: f64) -> Option<Reach> {
        self.needed.clear();
        let mut left = u64::from(problem.nodes);
        let mut reach = Reach {
            running: 0,
            least: f64::INFINITY,
        };
        let mut first = 0;
        for g in 0..shapes.groups() {
            let (vertices, tasks) = (shapes.of(g), shapes.tasks_in(g));
            let fewest = self.fewest(shapes, problem, g, first, level);
            first += vertices.len();
            if vertices[0].count == 0 {
                let needed = fewest.map(|(count, share)| (count, share, tasks));
                self.needed.extend(needed);
            } else {
                let (count, share) = fewest?;
                left = left.checked_sub(u64::from(count) * u64::from(tasks))?;
                reach.add(share, tasks);
            }
        }
        self.needed.sort_unstable_by_key(|&(count, ..)| count);
        for &(count, share, tasks) in &self.needed {
            // `count` is above 0, and `fit` is at most the number of tasks of the group, so the cast is lossless.
            let fit = (left / u64::from(count)).min(u64::from(tasks)) as u32;
            left -= u64::from(count) * u64::from(fit);
            reach.add(share, fit);
            if fit < tasks {
                break;
            }
        }
        Some(reach)
    }

    /// The fewest nodes above 0 that give a task of group `g` a share of at least `level`, and the resulting share;
    /// `None` if there is no such count. `first` is the index of the group's first vertex among all vertices.
    fn fewest(
        &self,
        shapes: &Shapes,
        problem: &Problem,
        g: usize,
        first: usize,
        level: f64,
    ) -> Option<(u32, f64)> {
        let vertices = shapes.of(g);
        let shares = &self.shares[first..first + vertices.len()];
        let reached = |i: &usize| vertices[*i].count > 0 && shares[*i] >= level;
        let i = (0..vertices.len()).find(reached)?;
        if !vertices[i].joined {
            return Some((vertices[i].count, shares[i]));
        }
        // Between joined vertices the share is linear, and at the previous vertex it is below the
        // level.
        let task = shapes.sample(problem, g);
        let share = |count| task.share_of(problem.t_fwd, self.best[g], count);
        let (low, high) = (vertices[i - 1].count, vertices[i].count);
        let count = first_count(low, high, |count| share(count) >= level);
        Some((count, share(count)))
    }
}

/// Finds the first count above `low` for which `holds` is true, by bisection. `holds` must be true at `high`, and
/// once it is true it must stay true up to `high`.
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
    /// Adds `tasks` running tasks, each with this share.
    fn add(&mut self, share: f64, tasks: u32) {
        if tasks > 0 {
            self.running += tasks as usize;
            self.least = self.least.min(share);
        }
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
