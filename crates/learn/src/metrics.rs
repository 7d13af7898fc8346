//! Measures of how well predictions match the true values. All slices have one value per row. If
//! there are no rows, every measure is NaN.

/// Mean absolute error, in the label's unit.
pub fn mean_absolute_error(truth: &[f64], predicted: &[f64]) -> f64 {
    let errors = truth.iter().zip(predicted).map(|(t, p)| (t - p).abs());
    errors.sum::<f64>() / truth.len() as f64
}

/// Coefficient of determination: 1 − residual sum of squares ÷ total sum of squares. NaN if all
/// true values are equal.
pub fn r_squared(truth: &[f64], predicted: &[f64]) -> f64 {
    let mean = mean(truth);
    let residual: f64 = truth
        .iter()
        .zip(predicted)
        .map(|(t, p)| (t - p).powi(2))
        .sum();
    let total: f64 = truth.iter().map(|t| (t - mean).powi(2)).sum();
    if total == 0.0 {
        f64::NAN
    } else {
        1.0 - residual / total
    }
}

/// Spearman's rank correlation. Tied values get the mean of their ranks. NaN if the values of
/// either slice are all equal.
pub fn spearman(truth: &[f64], predicted: &[f64]) -> f64 {
    pearson(&ranks(truth), &ranks(predicted))
}

/// Estimates whose rank correlation is at most this value are useless for ordering rows, regardless
/// of the number of rows.
const WEAK: f64 = 0.1;

/// Whether estimates with this rank correlation are hardly better than chance at ordering `rows`
/// rows. This holds if the correlation is at most the greater of 0.1 and two standard deviations,
/// 2 ÷ √(rows − 1).
pub fn is_near_chance(rank_correlation: f64, rows: usize) -> bool {
    let deviation = 1.0 / (rows.max(2) as f64 - 1.0).sqrt();
    // A correlation of NaN means that the estimates do not define an order.
    rank_correlation.is_nan() || rank_correlation <= WEAK.max(2.0 * deviation)
}

/// Pearson's correlation; NaN if the values of either slice are all equal.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        ab += (a - mean_a) * (b - mean_b);
        aa += (a - mean_a).powi(2);
        bb += (b - mean_b).powi(2);
    }
    if aa == 0.0 || bb == 0.0 {
        return f64::NAN;
    }
    ab / (aa * bb).sqrt()
}

/// Ranks, starting at 1. Tied values get the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut next = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = next as f64 + (tied.len() + 1) as f64 / 2.0;
        tied.iter().for_each(|&row| ranks[row] = rank);
        next += tied.len();
    }
    ranks
}

/// Share of rows whose class is predicted correctly; NaN if there are no rows.
pub fn accuracy(truth: &[u8], predicted: &[u8]) -> f64 {
    let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    right as f64 / truth.len() as f64
}

/// The confusion matrix: for each true class, the number of rows for each predicted class. The
/// classes are 0 to `classes` − 1.
///
/// # Panics
/// A class is outside this range.
pub fn confusion(truth: &[u8], predicted: &[u8], classes: usize) -> Vec<Vec<usize>> {
    let mut counts = vec![vec![0; classes]; classes];
    for (truth, predicted) in truth.iter().zip(predicted) {
        counts[usize::from(*truth)][usize::from(*predicted)] += 1;
    }
    counts
}

/// Arithmetic mean; NaN if there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle value, or the mean of the two middle values; NaN if there are no values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two standard deviations of the correlation of random estimates are 0.5 for 17 rows and 0.02
    // for 10,001 rows.
    #[test]
    fn weak_correlations_are_near_chance() {
        for (correlation, rows, expected) in [
            (0.036, 10_001, true),
            (0.11, 10_001, false),
            (0.49, 17, true),
            (0.51, 17, false),
            (-0.8, 10_001, true),
            (f64::NAN, 10, true),
            (1.0, 0, true),
        ] {
            assert_eq!(
                is_near_chance(correlation, rows),
                expected,
                "{correlation}, {rows}"
            );
        }
    }

    #[test]
    fn measures_of_a_small_example() {
        let (truth, predicted) = ([1.0, 2.0, 4.0, 5.0], [1.0, 3.0, 3.0, 7.0]);
        assert_eq!(mean_absolute_error(&truth, &predicted), 1.0);
        // The residual sum of squares is 6, and the total is 10.
        assert_eq!(r_squared(&truth, &predicted), 1.0 - 6.0 / 10.0);
        // The ranks are 1, 2, 3, 4 and 1, 2½, 2½, 4. Their covariance is 4.5, and their variances
        // are 5 and 4.5.
        let expected = 4.5 / (5.0f64 * 4.5).sqrt();
        assert!((spearman(&truth, &predicted) - expected).abs() < 1e-15);
        assert_eq!((median(&truth), median(&truth[..3])), (3.0, 2.0));
    }

    #[test]
    fn classes_are_counted() {
        let (truth, predicted) = ([0, 0, 1, 2], [0, 1, 1, 0]);
        assert_eq!(accuracy(&truth, &predicted), 0.5);
        let counts = confusion(&truth, &predicted, 3);
        assert_eq!(counts, [[1, 1, 0], [0, 1, 0], [1, 0, 0]]);
    }

    #[test]
    fn an_order_turned_around_correlates_by_minus_one() {
        let truth: Vec<f64> = (0..9).map(f64::from).collect();
        let turned: Vec<f64> = truth.iter().map(|x| (-x).exp()).collect();
        assert!((spearman(&truth, &turned) + 1.0).abs() < 1e-15);
        assert!(spearman(&truth, &[2.0; 9]).is_nan());
    }
}
