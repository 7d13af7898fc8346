//! Scales numbers to mean 0 and standard deviation 1.

/// Mean and standard deviation of the known values of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The mean of the known values; 0 if there are none.
    pub mean: f64,
    deviation: f64,
}

impl Scale {
    /// Computes the scale of `values`. Values that are not finite count as missing.
    pub fn of(values: &[f64]) -> Self {
        let known = || values.iter().filter(|value| value.is_finite());
        let rows = known().count().max(1) as f64;
        // Values are divided before they are summed, so that the sum stays finite even for the
        // largest numbers.
        let mean = known().map(|value| value / rows).sum::<f64>();
        let variance = known()
            .map(|value| (value - mean).powi(2) / rows)
            .sum::<f64>();
        Scale {
            mean,
            deviation: variance.sqrt(),
        }
    }

    /// The deviation of a value from the mean, in standard deviations. It is 0 if the value is
    /// missing or all known values are equal.
    pub fn apply(&self, value: f64) -> f64 {
        if value.is_finite() && self.deviation.is_normal() {
            (value - self.mean) / self.deviation
        } else {
            0.0
        }
    }

    /// The value whose deviation is `deviations` standard deviations: the inverse of
    /// [`Scale::apply`].
    pub fn undo(&self, deviations: f64) -> f64 {
        if self.deviation.is_normal() {
            self.mean + deviations * self.deviation
        } else {
            self.mean
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_of_a_small_example() {
        // Mean 3, variance (4 + 0 + 4) / 3.
        let scale = Scale::of(&[1.0, f64::NAN, 3.0, 5.0]);
        let expected = 2.0 / (8.0f64 / 3.0).sqrt();
        assert!((scale.apply(5.0) - expected).abs() < 1e-15);
        assert!((scale.undo(expected) - 5.0).abs() < 1e-15);
        assert_eq!(scale.apply(f64::NAN), 0.0);
    }

    #[test]
    fn constant_values_scale_to_zero() {
        for values in [&[7.0, 7.0][..], &[f64::NAN, 7.0], &[7.0]] {
            let scale = Scale::of(values);
            assert_eq!((scale.apply(9.0), scale.undo(2.0)), (0.0, 7.0));
        }
        assert_eq!(Scale::of(&[f64::NAN]).undo(1.0), 0.0);
        // If the variance overflows to infinity, deviations are 0 too.
        assert_eq!(Scale::of(&[1e300, -1e300]).apply(1e300), 0.0);
    }
}
