//! Means and quantiles as NumPy computes them, to the last digit.

/// The mean of whole numbers; NaN if there are none.
pub(super) fn mean(values: &[u64]) -> f64 {
    values.iter().sum::<u64>() as f64 / values.len() as f64
}

/// The quantile `q` (0 to 1) with linear interpolation; NaN if there are no values.
///
/// NumPy interpolates from the nearer of the two neighbouring values, and this choice can affect the last digit. For
/// the values 1 and 2, NumPy computes the quantile 0.75 as 2 − 1·(1 − 0.75), not as 1 + 1·0.75.
pub(super) fn quantile(values: &[u64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = q * last as f64;
    let lower = (place.floor() as usize).min(last);
    let fraction = place - lower as f64;
    let (a, b) = (sorted[lower] as f64, sorted[(lower + 1).min(last)] as f64);
    if fraction < 0.5 {
        a + (b - a) * fraction
    } else {
        b - (b - a) * (1.0 - fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Golden values from `numpy.quantile`.
    #[test]
    fn quantiles_are_those_of_numpy() {
        let values = [3, 1, 4, 1, 5];
        for (q, expected) in [(0.0, 1.0), (0.25, 1.0), (0.5, 3.0), (0.75, 4.0), (1.0, 5.0)] {
            assert_eq!(quantile(&values, q), expected);
        }
        assert_eq!(quantile(&[1, 2], 0.75), 1.75);
        assert_eq!(quantile(&[7], 0.3), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
        assert_eq!(mean(&[1, 2, 6]), 3.0);
    }
}
