//! Groups of runs that differ only in their seed.

use std::collections::BTreeMap;

use super::{Metric, Mode};
use crate::student::t95;

/// Name of the setting that distinguishes repetitions of a run. Sweeps do not choose a best value for it.
pub const SEED: &str = "seed";

/// Mean and deviation of a figure over the runs of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The number of runs, at least 1.
    pub runs: usize,
    /// The mean over the runs.
    pub mean: f64,
    /// The sample standard deviation over the runs; `None` for a single run.
    pub deviation: Option<f64>,
}

impl Spread {
    /// Mean and deviation of the values of a group's runs; `None` if a run has no value, or if
    /// there are no runs.
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let (first, count) = (*values.first()?, values.len() as f64);
        // Sums differences from the first value, so that equal values have exactly their common value as the mean, and
        // a deviation of 0.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Spread {
            runs: values.len(),
            mean,
            deviation: (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt()),
        })
    }

    /// The standard error of the mean: the deviation divided by the square root of the number of
    /// runs. `None` for a single run.
    pub fn standard_error(&self) -> Option<f64> {
        Some(self.deviation? / (self.runs as f64).sqrt())
    }

    /// Half the length of the 95 % interval of the mean: the standard error times [`t95`], with degrees of freedom one
    /// less than the number of runs. `None` for a single run.
    pub fn reach(&self) -> Option<f64> {
        Some(t95(self.runs.saturating_sub(1)) * self.standard_error()?)
    }

    /// The low end of the 95 % interval of the mean. `None` for a single run.
    pub fn low(&self) -> Option<f64> {
        Some(self.mean - self.reach()?)
    }

    /// The high end of the 95 % interval of the mean. `None` for a single run.
    pub fn high(&self) -> Option<f64> {
        Some(self.mean + self.reach()?)
    }
}

/// Runs with the same settings except for the seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Indices of the runs, ascending.
    pub runs: Vec<usize>,
    /// Figures in the order of [`Mode::metrics`]; `None` if a run has no value.
    pub figures: Vec<Option<Spread>>,
}

impl Group {
    /// The mean of a figure; `None` if a run has no value.
    pub fn mean(&self, mode: Mode, metric: &Metric) -> Option<f64> {
        self.spread(mode, metric).map(|spread| spread.mean)
    }

    /// Mean and deviation of a figure; `None` if a run has no value.
    pub fn spread(&self, mode: Mode, metric: &Metric) -> Option<Spread> {
        let place = mode.metrics().iter().position(|other| other == metric)?;
        self.figures[place]
    }
}

/// A run of a sweep as strings and numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepRow {
    /// The run's settings in the order of [`Mode::settings`]; empty for a setting that the run does not have.
    pub settings: Vec<String>,
    /// The run's figures in the order of [`Mode::metrics`]; `None` for a figure that the run does not have.
    pub figures: Vec<Option<f64>>,
}

/// The groups of runs, in the order of their first runs.
pub fn groups(mode: Mode, runs: &[SweepRow]) -> Vec<Group> {
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (run, swept) in runs.iter().enumerate() {
        let named = mode.settings().iter().zip(&swept.settings);
        let key = named.filter(|(field, _)| field.name != SEED);
        let key = key.map(|(_, value)| value.as_str()).collect();
        let place = *places.entry(key).or_insert(members.len());
        match members.get_mut(place) {
            Some(group) => group.push(run),
            None => members.push(vec![run]),
        }
    }
    let spread = |members: &[usize], place: usize| {
        Spread::of(members.iter().map(|&run| runs[run].figures[place]))
    };
    let group = |members: Vec<usize>| Group {
        figures: (0..mode.metrics().len())
            .map(|place| spread(&members, place))
            .collect(),
        runs: members,
    };
    members.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::super::select::tests::runs;
    use super::*;

    // The sample variance of 2, 4 and 9 is 13.
    #[test]
    fn figures_are_means_over_seeds() {
        let runs = runs(&[
            ("30", "0", Some(2.0)),
            ("60", "0", Some(7.0)),
            ("30", "1", Some(4.0)),
            ("30", "2", Some(9.0)),
            ("60", "1", None),
            ("90", "1", Some(1.0)),
        ]);
        let groups = groups(Mode::Replay, &runs);
        let members: Vec<_> = groups.iter().map(|group| group.runs.as_slice()).collect();
        assert_eq!(members, [&[0, 2, 3][..], &[1, 4], &[5]]);
        let work = Mode::Replay.metric("total_work").unwrap();
        let spreads: Vec<_> = groups
            .iter()
            .map(|group| group.spread(Mode::Replay, &work))
            .collect();
        let first = spreads[0].unwrap();
        assert_eq!(first.mean, 5.0);
        assert!((first.deviation.unwrap() - 13f64.sqrt()).abs() < 1e-12);
        assert_eq!(spreads[1], None);
        assert_eq!(spreads[2].unwrap().deviation, None);
    }

    #[test]
    fn equal_values_have_no_spread() {
        let spread = Spread::of([Some(0.1); 7]).unwrap();
        assert_eq!((spread.mean, spread.deviation), (0.1, Some(0.0)));
        assert_eq!((spread.low(), spread.high()), (Some(0.1), Some(0.1)));
    }

    // The values 2, 4 and 9 have the mean 5 and the variance 13. The published percentile of t with 2 degrees of
    // freedom is 4.302653.
    #[test]
    fn the_mean_of_three_runs_has_an_interval() {
        let spread = Spread::of([Some(2.0), Some(4.0), Some(9.0)]).unwrap();
        let error = (13.0_f64 / 3.0).sqrt();
        let near = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-5;
        assert!(near(spread.standard_error(), error));
        assert!(near(spread.low(), 5.0 - 4.302_653 * error));
        assert!(near(spread.high(), 5.0 + 4.302_653 * error));
    }

    #[test]
    fn a_single_run_has_no_interval() {
        let spread = Spread::of([Some(2.0)]).unwrap();
        assert_eq!((spread.runs, spread.standard_error()), (1, None));
        assert_eq!((spread.low(), spread.high()), (None, None));
        assert_eq!(Spread::of([]), None);
    }
}
