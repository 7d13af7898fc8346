//! The standard normal distribution.

use std::f64::consts::SQRT_2;

/// Probability that a standard normal number is below `z`.
pub(crate) fn cdf(z: f64) -> f64 {
    libm::erfc(-z / SQRT_2) / 2.0
}

/// The number below which a standard normal number lies with this probability. Probabilities outside (0, 1) give an end
/// of the searched range, −9 or 9.
///
/// The number is found by bisection, which needs no approximation formula. The range is halved 60 times, so the result
/// is exact to about 1e-16.
pub(crate) fn quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the values of a printed table of the normal distribution.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, z) in [
            (0.5, 0.0),
            (0.975, 1.959_963_984_540_054),
            (0.025, -1.959_963_984_540_054),
            (0.841_344_746_068_542_9, 1.0),
            (0.999, 3.090_232_306_167_813),
        ] {
            assert!((quantile(probability) - z).abs() < 1e-9, "{probability}");
            assert!((cdf(z) - probability).abs() < 1e-12, "{z}");
        }
    }
}
