//! Distributions of lengths in seconds: counts and sums in bins, and quantiles.

use serde::Serialize;

use super::ratio;

/// Converts nanoseconds, the unit of logs, to seconds.
pub(super) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// A distribution of lengths.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Distribution {
    /// Number of lengths.
    pub count: usize,
    /// Sum of the lengths in seconds.
    pub sum_s: f64,
    /// Mean in seconds; 0 if there are no lengths.
    pub mean_s: f64,
    /// Shortest length in seconds; 0 if there are no lengths.
    pub min_s: f64,
    /// Longest length in seconds; 0 if there are no lengths.
    pub max_s: f64,
    /// Quantiles; empty if there are no lengths.
    pub quantiles: Vec<Quantile>,
    /// Bins between customary bounds, such as a minute or an hour.
    pub bins: Vec<Bin>,
    /// Bins for charts. Their bounds are 1, 2, 4, 8, … seconds, up to the longest length.
    pub fine_bins: Vec<Bin>,
}

/// A quantile of the lengths, by count and by sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantile {
    /// The share that defines the quantile, in percent.
    pub percent: f64,
    /// The smallest length ℓ such that at least this share of the lengths is at most ℓ.
    pub by_count_s: f64,
    /// The smallest length such that all lengths up to it add up to at least this share of the sum.
    pub by_sum_s: f64,
}

/// The lengths from a lower bound, inclusive, to an upper bound, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bin {
    /// Lower bound in seconds, inclusive.
    pub from_s: f64,
    /// Upper bound in seconds, exclusive; `None` for the last bin.
    pub to_s: Option<f64>,
    /// Number of lengths.
    pub count: usize,
    /// Number of lengths in this bin, as a share of the number of all lengths.
    pub count_share: f64,
    /// Sum of the lengths in seconds.
    pub sum_s: f64,
    /// Sum of the lengths in this bin, as a share of the sum of all lengths.
    pub sum_share: f64,
}

const PERCENTS: [f64; 9] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0];

impl Distribution {
    /// The distribution of `sorted` lengths in nanoseconds. Bins start at 0 and at each of the increasing `bounds`, in
    /// seconds.
    pub(super) fn new(sorted: &[u64], bounds: &[f64]) -> Self {
        let sums = cumulated(sorted);
        let sum_s = sums.last().copied().unwrap_or(0.0);
        let longest = sorted.last().copied().unwrap_or(0);
        let doubling: Vec<f64> = (0..)
            .map(|power| 2f64.powi(power))
            .take_while(|&bound| bound <= seconds(longest))
            .collect();
        Distribution {
            count: sorted.len(),
            sum_s,
            mean_s: ratio(sum_s, sorted.len() as f64),
            min_s: sorted.first().copied().map_or(0.0, seconds),
            max_s: seconds(longest),
            quantiles: quantiles(sorted, &sums),
            bins: bins(sorted, bounds),
            fine_bins: bins(sorted, &doubling),
        }
    }

    /// The percentile `percent` of the lengths, in seconds: the smallest length ℓ such that at least `percent` % of the
    /// lengths are at most ℓ. `None` if [`Distribution::quantiles`] has no entry for `percent`.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        let found = self.quantiles.iter().find(|q| q.percent == percent);
        found.map(|q| q.by_count_s)
    }
}

/// Sums of the first 0, 1, 2, … lengths, in seconds.
pub(super) fn cumulated(sorted: &[u64]) -> Vec<f64> {
    // Whole nanoseconds add up exactly; only the result is rounded.
    let mut total = 0u128;
    let mut sums = Vec::with_capacity(sorted.len() + 1);
    sums.push(0.0);
    sums.extend(sorted.iter().map(|&length| {
        total += u128::from(length);
        seconds_of(total)
    }));
    sums
}

/// Converts a sum of nanoseconds to seconds.
fn seconds_of(nanos: u128) -> f64 {
    (nanos / 1_000_000_000) as f64 + (nanos % 1_000_000_000) as f64 / 1e9
}

fn quantiles(sorted: &[u64], sums: &[f64]) -> Vec<Quantile> {
    let Some(last) = sorted.len().checked_sub(1) else {
        return Vec::new();
    };
    PERCENTS
        .iter()
        .map(|&percent| {
            let share = percent / 100.0;
            let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize - 1;
            let held = sums[1..].partition_point(|&sum| sum < share * sums[last + 1]);
            Quantile {
                percent,
                by_count_s: seconds(sorted[rank.min(last)]),
                by_sum_s: seconds(sorted[held.min(last)]),
            }
        })
        .collect()
}

/// Counts and adds up the `lengths` in each bin. Lengths are in nanoseconds and in any order. Bins start at 0 and at
/// each of the increasing `bounds`, in seconds.
pub(super) fn bins(lengths: &[u64], bounds: &[f64]) -> Vec<Bin> {
    // Whole nanoseconds add up exactly; only the results are rounded.
    let mut sums = vec![(0usize, 0u128); bounds.len() + 1];
    for &length in lengths {
        let bin = &mut sums[bounds.partition_point(|&bound| bound <= seconds(length))];
        *bin = (bin.0 + 1, bin.1 + u128::from(length));
    }
    let whole = seconds_of(sums.iter().map(|bin| bin.1).sum());
    let bin = |(place, (count, nanos)): (usize, (usize, u128))| Bin {
        from_s: place.checked_sub(1).map_or(0.0, |before| bounds[before]),
        to_s: bounds.get(place).copied(),
        count,
        count_share: ratio(count as f64, lengths.len() as f64),
        sum_s: seconds_of(nanos),
        sum_share: ratio(seconds_of(nanos), whole),
    };
    sums.into_iter().enumerate().map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    // The lengths add up to 100 seconds, so sums are also percentages.
    #[test]
    fn quantiles_by_count_and_by_sum() {
        let d = Distribution::new(&[S, 2 * S, 3 * S, 94 * S], &[3.0, 60.0]);
        let at = |percent| *d.quantiles.iter().find(|q| q.percent == percent).unwrap();
        assert_eq!((at(1.0).by_count_s, at(1.0).by_sum_s), (1.0, 1.0));
        assert_eq!((at(5.0).by_count_s, at(5.0).by_sum_s), (1.0, 3.0));
        assert_eq!((at(50.0).by_count_s, at(50.0).by_sum_s), (2.0, 94.0));
        assert_eq!(d.percentile(75.0), Some(3.0));
        assert_eq!((d.mean_s, d.min_s, d.max_s), (25.0, 1.0, 94.0));
    }

    // A length that equals a bound belongs to the bin above the bound.
    #[test]
    fn bins_hold_their_lower_bound() {
        let d = Distribution::new(&[S, 2 * S, 3 * S, 94 * S], &[3.0, 60.0]);
        let counts: Vec<_> = d.bins.iter().map(|b| (b.count, b.sum_s)).collect();
        assert_eq!(counts, [(2, 3.0), (1, 3.0), (1, 94.0)]);
        assert_eq!(d.bins[2].to_s, None);
        let fine: Vec<_> = d.fine_bins.iter().map(|b| b.count).collect();
        assert_eq!(fine, [0, 1, 2, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn without_lengths_there_are_no_quantiles() {
        let d = Distribution::new(&[], &[60.0]);
        assert_eq!((d.count, d.mean_s, d.quantiles.len()), (0, 0.0, 0));
        assert_eq!(d.bins.len(), 2);
    }
}
