//! Statistics of the lengths of idle fragments, weighted by time.

use super::distribution::{cumulated, seconds};
use super::ratio;

/// The lengths of idle fragments.
#[derive(Debug)]
pub(super) struct IdleLengths<'a> {
    sorted: &'a [u64],
    /// Sums of the first 0, 1, 2, … lengths in seconds.
    sums: Vec<f64>,
    /// Sums of the squares of the first 0, 1, 2, … lengths in seconds.
    squares: Vec<f64>,
}

impl<'a> IdleLengths<'a> {
    /// Prepares the statistics of `sorted` lengths in nanoseconds.
    pub fn new(sorted: &'a [u64]) -> Self {
        let mut total = 0.0;
        let squared = sorted.iter().map(|&length| {
            total += seconds(length) * seconds(length);
            total
        });
        IdleLengths {
            sorted,
            squares: std::iter::once(0.0).chain(squared).collect(),
            sums: cumulated(sorted),
        }
    }

    /// Idle node-seconds.
    pub fn total(&self) -> f64 {
        self.sums[self.sorted.len()]
    }

    /// L: the mean length in seconds; 0 if there are no fragments.
    pub fn mean(&self) -> f64 {
        ratio(self.total(), self.sorted.len() as f64)
    }

    /// The number of fragments shorter than `tau`, and the number of all other fragments.
    fn split(&self, tau: f64) -> (usize, f64) {
        let shorter = self.sorted.partition_point(|&length| seconds(length) < tau);
        (shorter, (self.sorted.len() - shorter) as f64)
    }

    /// The longest length, in seconds.
    pub fn longest(&self) -> f64 {
        self.sorted.last().copied().map_or(0.0, seconds)
    }

    /// F(τ): the probability that a node that is idle now is taken away within `tau` seconds.
    pub fn taken(&self, tau: f64) -> f64 {
        let (shorter, longer) = self.split(tau);
        (self.sums[shorter] + tau * longer) / self.total()
    }

    /// (1/τ)·∫₀^τ (1 − F): the share of idle nodes that a task holds, averaged over the `tau`
    /// seconds after it grew.
    pub fn held(&self, tau: f64) -> f64 {
        let (shorter, longer) = self.split(tau);
        // ∫₀^τ min(ℓ, t) dt is ℓτ − ℓ²/2 for ℓ < τ, and τ²/2 otherwise.
        let short = tau * self.sums[shorter] - self.squares[shorter] / 2.0;
        1.0 - (short + longer * tau * tau / 2.0) / (tau * self.total())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    // Two fragments of 10 and 30 s. The expected values are computed from the formulas.
    #[test]
    fn idle_lengths_are_weighted_by_time() {
        let sorted = [10 * S, 30 * S];
        let idle_lengths = IdleLengths::new(&sorted);
        assert_eq!(idle_lengths.taken(20.0), (10.0 + 20.0) / 40.0);
        // ∫₀^20: 10·20 − 50 for the short fragment, 200 for the long fragment; their sum is
        // divided by 20·40.
        assert_eq!(idle_lengths.held(20.0), 1.0 - (150.0 + 200.0) / 800.0);
        assert_eq!(idle_lengths.taken(30.0), 1.0);
    }
}
