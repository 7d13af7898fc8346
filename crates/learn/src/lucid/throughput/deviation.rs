//! The standard deviation of a sliding window, computed with the same rounding errors as in pandas.
//!
//! The mean `m` and the sum of squared deviations `q` of the window are updated whenever a value
//! `x` enters or leaves it (Welford, 1962). Let `n` be the number of values in the window after the
//! update. When a value enters, `m` becomes `m' = m + (x - m) / n`, and then `q` becomes
//! `q + (x - m) (x - m')`. When a value leaves, the same formulas apply with the signs reversed. For
//! example, the values 2 and 4 have `m` = 3 and `q` = 2. If 6 enters, it differs by 3 from the old
//! mean and by 2 from the new mean 4, so `q` becomes 2 + 3 × 2 = 8.
//!
//! The differences are compensated for rounding in the same way as in pandas 3, which computed the
//! published features. As in pandas, removing a value from the window can cause a rounding error:
//! up to 10⁻⁵ for six equal values, whose deviation should be 0. Models trained on these features
//! therefore have the same bins as models trained on the published features.

use super::WINDOW;

/// If the sum of squares falls below this share of its previous value, too few correct digits
/// remain. The sums of the window are then recomputed. This share is a thousand times the spacing
/// of floats at 1.
const CANCELLED: f64 = 1e3 * f64::EPSILON;

/// The running sums of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Running {
    values: f64,
    mean: f64,
    squares: f64,
    /// The rounding errors to compensate for: from values that entered, and from values that left.
    lost: [f64; 2],
    cancelled: bool,
}

impl Running {
    fn of(window: &[f64]) -> Self {
        let mut running = Running::default();
        window.iter().for_each(|&value| running.enter(value));
        running.cancelled = false;
        running
    }

    fn enter(&mut self, value: f64) {
        self.values += 1.0;
        self.step(value, 0, 1.0);
    }

    fn leave(&mut self, value: f64) {
        self.values -= 1.0;
        self.step(value, 1, -1.0);
    }

    /// Adds a value to the mean and the sum of squares (`sign` 1) or removes it (`sign` −1).
    /// Compensates for `lost[way]`, the rounding error of the previous addition or removal.
    fn step(&mut self, value: f64, way: usize, sign: f64) {
        let (before, lost) = (self.squares, self.lost[way]);
        let exact = value - lost;
        let difference = exact - self.mean;
        self.lost[way] = difference + self.mean - exact;
        let mean = self.mean - lost;
        self.mean += sign * (difference / self.values);
        self.squares += sign * ((value - mean) * (value - self.mean));
        self.cancelled |= before * CANCELLED > self.squares;
    }
}

/// The sample standard deviation of each window of [`WINDOW`] values, at the index of the window's
/// last value; `None` before the first complete window.
pub(super) fn sliding(values: &[f64]) -> Vec<Option<f64>> {
    let mut running = Running::default();
    let mut deviations = Vec::with_capacity(values.len());
    for (last, &value) in values.iter().enumerate() {
        if let Some(first) = last.checked_sub(WINDOW) {
            running.leave(values[first]);
        }
        running.enter(value);
        if running.cancelled {
            running = Running::of(&values[(last + 1).saturating_sub(WINDOW)..=last]);
        }
        let variance = running.squares / (WINDOW - 1) as f64;
        deviations.push((last + 1 >= WINDOW).then(|| variance.max(0.0).sqrt()));
    }
    deviations
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn deviations_are_those_of_the_window(
            values in proptest::collection::vec((0..200u32).prop_map(f64::from), 6..80)
        ) {
            let sliding = sliding(&values);
            prop_assert_eq!(&sliding[..5], &[None; 5]);
            for (window, found) in values.windows(WINDOW).zip(&sliding[5..]) {
                let mean = window.iter().sum::<f64>() / 6.0;
                let squares: f64 = window.iter().map(|x| (x - mean).powi(2)).sum();
                let off = found.unwrap_or(f64::NAN).powi(2) - squares / 5.0;
                prop_assert!(off.abs() < 1e-8, "{} off", off);
            }
        }
    }
}
