//! Lengths of the gaps between events.

use super::Distribution;
use gleaner_domain::Utc;

/// Bounds of the bins, in seconds.
const BOUNDS: [f64; 6] = [1.0, 10.0, 60.0, 600.0, 3_600.0, 21_600.0];

/// The distribution of the gaps between `times`, which must not decrease.
pub fn gaps(times: &[Utc]) -> Distribution {
    let mut gaps: Vec<u64> = times.windows(2).map(|t| t[1].0.abs_diff(t[0].0)).collect();
    gaps.sort_unstable();
    Distribution::new(&gaps, &BOUNDS)
}
