//! Bootstrap intervals of means: the observations are repeatedly drawn with replacement, and the spread of the
//! resamples' means estimates the spread of the mean itself.

use std::ops::RangeInclusive;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// The valid numbers of resamples. With fewer than 100, each end of the interval would depend on only two or three
/// resamples. More than 10,000 resamples do not make the interval more accurate, because its error is then due to the
/// small number of blocks.
pub const RESAMPLES: RangeInclusive<usize> = 100..=10_000;

/// The settings for resampling the blocks of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bootstrap {
    /// Length of the blocks.
    pub block: Block,
    /// Number of resamples.
    pub resamples: usize,
    /// Seed of the random generator that draws the resamples.
    pub seed: u64,
}

/// The length of a block: a period after which the load of a cluster tends to repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// 24 hours.
    Day,
    /// 7 times 24 hours.
    Week,
}

impl Block {
    /// Length in seconds.
    pub fn seconds(self) -> u32 {
        match self {
            Block::Day => 24 * 3_600,
            Block::Week => 7 * 24 * 3_600,
        }
    }

    /// The block's name.
    pub fn noun(self) -> &'static str {
        match self {
            Block::Day => "day",
            Block::Week => "week",
        }
    }
}

impl Bootstrap {
    /// The 95 % percentile interval of the mean of `values` (Efron and Tibshirani 1993, section 13.3): the 2.5th and
    /// the 97.5th percentile of the means of the resamples. `None` for fewer than two values.
    ///
    /// Each value belongs to a block of the log, and the blocks do not overlap (Carlstein 1986). Events within a block
    /// depend on each other: for example, a maintenance period or a deadline affects many of them. Drawing whole blocks
    /// instead of single events preserves this dependence.
    ///
    /// For example, suppose that three blocks have the values 2, 4 and 9. The resample of the blocks 1, 3 and 3 has the
    /// mean (2 + 9 + 9) ÷ 3 = 6.67. All 27 resamples are equally likely. One of them has the mean 2, and one the mean
    /// 9.
    ///
    /// The same resamples are drawn for every group and figure, so settings are compared on the same blocks.
    pub fn interval(&self, values: &[f64]) -> Option<[f64; 2]> {
        let (&first, count) = (values.first()?, values.len());
        if count < 2 {
            return None;
        }
        if values.iter().all(|&value| value == first) {
            return Some([first, first]);
        }
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut mean = || {
            let drawn = (0..count).map(|_| values[random.random_range(0..count)] - first);
            first + drawn.sum::<f64>() / count as f64
        };
        let mut means: Vec<f64> = (0..self.resamples).map(|_| mean()).collect();
        means.sort_unstable_by(f64::total_cmp);
        Some([percentile(&means, 0.025)?, percentile(&means, 0.975)?])
    }
}

/// A percentile of ascending values, with linear interpolation between neighbouring values (definition 7 of Hyndman
/// and Fan 1996). `None` if there are no values.
///
/// For example, the 2.5th percentile of 101 values is at index 0.025 · 100 = 2.5, halfway between the third and the
/// fourth value.
fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(place.floor() as usize)?;
    let high = *sorted.get(place.ceil() as usize)?;
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bootstrap(resamples: usize, seed: u64) -> Bootstrap {
        Bootstrap {
            block: Block::Week,
            resamples,
            seed,
        }
    }

    // Small fixed example: numpy.percentile([1, 2, 4, 8], [2.5, 50, 97.5]) is [1.075, 3, 7.7].
    #[test]
    fn percentiles_are_interpolated() {
        let near = |share, expected: f64| {
            let found = percentile(&[1.0, 2.0, 4.0, 8.0], share).unwrap();
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        };
        near(0.025, 1.075);
        near(0.5, 3.0);
        near(0.975, 7.7);
        assert_eq!(percentile(&[], 0.5), None);
    }

    /// The means of all n^n resamples of `values`, where n is the number of values. All resamples are equally likely.
    fn all_means(values: &[f64]) -> Vec<f64> {
        let count = values.len();
        let mut means = Vec::new();
        for mut number in 0..count.pow(count as u32) {
            let mut sum = 0.0;
            for _ in 0..count {
                sum += values[number % count];
                number /= count;
            }
            means.push(sum / count as f64);
        }
        means.sort_by(f64::total_cmp);
        means
    }

    // Derived by formula: with enough resamples, the interval approaches the one from all 6^6 = 46,656 resamples, which
    // are enumerated here. The share of drawn means below the 2.5th percentile has the standard error
    // √(0.025 · 0.975 ÷ 10,000) = 0.0016. Within five standard errors, the low end lies between the percentiles 1.7 %
    // and 3.3 %, and the high end between 96.7 % and 98.3 %.
    #[test]
    fn intervals_approach_those_of_all_resamples() {
        let values = [3.0, 4.5, 5.1, 7.9, 10.4, 16.6];
        let all = all_means(&values);
        let at = |share: f64| all[(share * (all.len() - 1) as f64) as usize];
        for seed in 0..20 {
            let [low, high] = bootstrap(10_000, seed).interval(&values).unwrap();
            assert!(at(0.017) <= low && low <= at(0.033), "{seed}: {low}");
            assert!(at(0.967) <= high && high <= at(0.983), "{seed}: {high}");
        }
        let of = |seed| bootstrap(100, seed).interval(&values);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_single_block_has_no_interval_and_equal_blocks_have_no_spread() {
        assert_eq!(bootstrap(100, 0).interval(&[1.0]), None);
        assert_eq!(bootstrap(100, 0).interval(&[]), None);
        assert_eq!(bootstrap(100, 0).interval(&[0.1; 7]), Some([0.1, 0.1]));
    }
}
