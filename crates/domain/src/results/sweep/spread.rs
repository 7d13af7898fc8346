//! Mean, deviation and interval of a figure.

/// Mean, deviation and interval of a figure over the repetitions of a group of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The number of repetitions, at least 1.
    pub repetitions: usize,
    /// The mean over the repetitions.
    pub mean: f64,
    /// The sample standard deviation over the repetitions; `None` for a single repetition.
    pub deviation: Option<f64>,
    /// The 95 % interval of the mean; `None` if there are too few repetitions.
    pub interval: Option<Interval>,
}

/// A 95 % interval of a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interval {
    /// Half the length of a symmetric interval based on Student's t: the standard error times
    /// [`t95`](crate::student::t95), with n − 1 degrees of freedom for n repetitions.
    Student(f64),
    /// The ends of a percentile interval, which need not be equally far from the mean.
    Percentile([f64; 2]),
}

impl Spread {
    /// Mean and deviation of some values, without an interval; `None` if there are no values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let (mean, count) = (mean(values)?, values.len());
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Spread {
            repetitions: count,
            mean,
            deviation: (count > 1).then(|| (squares / (count as f64 - 1.0)).sqrt()),
            interval: None,
        })
    }

    /// The standard error of the mean: the deviation divided by the square root of the number of repetitions. `None`
    /// for a single repetition.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.deviation? / (self.repetitions as f64).sqrt())
    }

    /// Half the length of a symmetric 95 % interval of the mean. `None` if there is no interval, or if it is a
    /// percentile interval.
    pub fn reach(&self) -> Option<f64> {
        match self.interval? {
            Interval::Student(reach) => Some(reach),
            Interval::Percentile(_) => None,
        }
    }

    /// The ends of the 95 % interval of the mean. `None` if there is no interval.
    pub fn ends(&self) -> Option<[f64; 2]> {
        Some(match self.interval? {
            Interval::Student(reach) => [self.mean - reach, self.mean + reach],
            Interval::Percentile(ends) => ends,
        })
    }

    /// The low end of the 95 % interval of the mean. `None` if there is no interval.
    pub fn low(&self) -> Option<f64> {
        self.ends().map(|[low, _]| low)
    }

    /// The high end of the 95 % interval of the mean. `None` if there is no interval.
    pub fn high(&self) -> Option<f64> {
        self.ends().map(|[_, high]| high)
    }
}

/// The mean of some values; `None` if there are no values. Sums the differences from the first value. The mean of equal
/// values is therefore exactly their common value, and their deviation is 0.
pub(super) fn mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    let sum: f64 = values.iter().map(|value| value - first).sum();
    Some(first + sum / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Replication;

    #[test]
    fn equal_values_have_no_spread() {
        let spread = Replication::Seeds.spread([Some(0.1); 7]).unwrap();
        assert_eq!((spread.mean, spread.deviation), (0.1, Some(0.0)));
        assert_eq!((spread.low(), spread.high()), (Some(0.1), Some(0.1)));
    }

    // The values 2, 4 and 9 have the mean 5 and the variance 13. The published percentile of t with 2 degrees of
    // freedom is 4.302653.
    #[test]
    fn the_mean_of_three_runs_has_an_interval() {
        let values = [Some(2.0), Some(4.0), Some(9.0)];
        let spread = Replication::Seeds.spread(values).unwrap();
        let error = (13.0_f64 / 3.0).sqrt();
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-5;
        assert!(near(spread.standard_error(), error));
        assert!(near(spread.low(), 5.0 - 4.302_653 * error));
        assert!(near(spread.high(), 5.0 + 4.302_653 * error));
    }

    #[test]
    fn a_single_run_has_no_interval() {
        let spread = Replication::Seeds.spread([Some(2.0)]).unwrap();
        assert_eq!((spread.repetitions, spread.standard_error()), (1, None));
        assert_eq!((spread.low(), spread.high()), (None, None));
        assert_eq!(Replication::Seeds.spread([]), None);
    }
}
