//! The greatest least share, by bisection over what shares are attainable.
//!
//! At a level ℓ every task needs a fewest count of share ≥ ℓ to run; as many tasks as
//! possible run where those with the smallest such counts do. Their number falls with ℓ,
//! so the greatest ℓ at which it is still the greatest possible is found by halving the
//! floats between the least and the greatest share: after at most 64 steps ℓ is exactly
//! the share of some task at some count.

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
    /// Fewest counts of the tasks that may rest.
    needed: Vec<u32>,
}

impl Levels {
    /// The floor of `problem`; `None` where there is no plan at all.
    pub fn floor(&mut self, shapes: &Shapes, problem: &Problem) -> Option<Floor> {
        self.measure(shapes, problem);
        let most = self.running(shapes, problem, f64::NEG_INFINITY)?;
        let level = self.greatest_level(shapes, problem, most);
        Some(Floor {
            level,
            some_rest: most < problem.tasks.len(),
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

    /// The greatest level at which `most` tasks run.
    fn greatest_level(&mut self, shapes: &Shapes, problem: &Problem, most: usize) -> f64 {
        let least = self.shares.iter().copied().fold(f64::INFINITY, f64::min);
        let (mut low, mut high) = (key(least.min(0.0)), key(1.0) + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.running(shapes, problem, value(middle)) == Some(most) {
                low = middle;
            } else {
                high = middle;
            }
        }
        value(low)
    }

    /// How many tasks can run at a share of `level` or more; `None` where tasks that may
    /// not rest cannot.
    fn running(&mut self, shapes: &Shapes, problem: &Problem, level: f64) -> Option<usize> {
        self.needed.clear();
        let mut left = u64::from(problem.nodes);
        let (mut running, mut first) = (0, 0);
        for j in 0..shapes.tasks() {
            let vertices = shapes.of(j);
            let count = self.fewest(shapes, problem, j, first, level);
            first += vertices.len();
            if vertices[0].count == 0 {
                self.needed.extend(count);
            } else {
                left = left.checked_sub(u64::from(count?))?;
                running += 1;
            }
        }
        self.needed.sort_unstable();
        for &count in &self.needed {
            let Some(rest) = left.checked_sub(u64::from(count)) else {
                break;
            };
            left = rest;
            running += 1;
        }
        Some(running)
    }

    /// Fewest nodes above 0 that give task `j` a share of `level` or more; its first
    /// vertex is the one at `first` of all.
    fn fewest(
        &self,
        shapes: &Shapes,
        problem: &Problem,
        j: usize,
        first: usize,
        level: f64,
    ) -> Option<u32> {
        let vertices = shapes.of(j);
        let shares = &self.shares[first..first + vertices.len()];
        let reached = |i: &usize| vertices[*i].count > 0 && shares[*i] >= level;
        let i = (0..vertices.len()).find(reached)?;
        if !vertices[i].joined {
            return Some(vertices[i].count);
        }
        // Between joined vertices the share is linear, and the one before is below.
        let reaches = |count| {
            let task = &problem.tasks[j];
            task.share_of(problem.t_fwd, self.best[j], count) >= level
        };
        Some(first_count(
            vertices[i - 1].count,
            vertices[i].count,
            reaches,
        ))
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

/// Floats in their order as whole numbers: neighbours are one apart.
fn key(value: f64) -> i128 {
    let bits = value.to_bits();
    let magnitude = i128::from(bits & !(1 << 63));
    if value.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    }
}

fn value(key: i128) -> f64 {
    // The magnitude is that of a float's bits, so the cast loses nothing.
    let magnitude = f64::from_bits(key.unsigned_abs() as u64);
    if key < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_the_floats() {
        let values = [-2.5, -1e-300, 0.0, 1e-300, 0.3, 1.0];
        for pair in values.windows(2) {
            assert!(key(pair[0]) < key(pair[1]));
        }
        assert!(values.iter().all(|&v| value(key(v)) == v));
        assert_eq!(value(key(0.3) + 1), 0.3f64.next_up());
    }

    #[test]
    fn the_first_count_is_found() {
        for first in 4..=20 {
            assert_eq!(first_count(3, 20, |count| count >= first), first);
        }
    }
}
