//! Groups of runs that differ only in their seed and their window.

use std::collections::BTreeMap;

use super::replication::{Replication, WINDOW, averaged, only_repeats};
use super::spread::Spread;
use super::{Metric, Mode};

/// Runs with the same settings except for the seed and the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Indices of the runs, ascending.
    pub runs: Vec<usize>,
    /// The kind of repetitions over which means and intervals are computed.
    pub over: Replication,
    /// The runs of each repetition: of each seed, or of each window.
    repetitions: Vec<Vec<usize>>,
    /// Figures in the order of [`Mode::metrics`]; `None` if a run has no value.
    pub figures: Vec<Option<Spread>>,
}

impl Group {
    /// The mean of a figure; `None` if a run has no value.
    pub fn mean(&self, mode: Mode, metric: &Metric) -> Option<f64> {
        self.spread(mode, metric).map(|spread| spread.mean)
    }

    /// Mean, deviation and interval of a figure; `None` if a run has no value.
    pub fn spread(&self, mode: Mode, metric: &Metric) -> Option<Spread> {
        let place = mode.metrics().iter().position(|other| other == metric)?;
        self.figures[place]
    }

    /// Mean, deviation and interval of a figure that `value` computes for each run; `None` if a run has no value.
    pub fn spread_of(&self, value: impl Fn(usize) -> Option<f64>) -> Option<Spread> {
        let each = self.repetitions.iter();
        self.over.spread(each.map(|runs| averaged(runs, &value)))
    }

    /// Number of repetitions over which the means are computed.
    pub fn repetitions(&self) -> usize {
        self.repetitions.len()
    }

    /// Number of seeds. If windows have different numbers of seeds, as in an unfinished sweep, the largest number.
    pub fn seeds(&self) -> usize {
        if self.over.cuts_log() {
            self.repetitions.iter().map(Vec::len).max().unwrap_or(0)
        } else {
            self.runs.len()
        }
    }

    /// Number of windows; `None` if the log is not cut.
    pub fn windows(&self) -> Option<usize> {
        self.over.cuts_log().then(|| self.repetitions())
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

/// The groups of runs, in the order of their first runs. `over` states whether means and intervals are over seeds,
/// windows or blocks.
pub fn groups(mode: Mode, runs: &[SweepRow], over: Replication) -> Vec<Group> {
    let settings = mode.settings();
    let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (run, swept) in runs.iter().enumerate() {
        let named = settings.iter().zip(&swept.settings);
        let key = named.filter(|(field, _)| !only_repeats(field.name));
        let key = key.map(|(_, value)| value.as_str()).collect();
        let place = *places.entry(key).or_insert(members.len());
        match members.get_mut(place) {
            Some(group) => group.push(run),
            None => members.push(vec![run]),
        }
    }
    let place = settings.iter().position(|field| field.name == WINDOW);
    let window = |run: usize| place.map_or("", |place| runs[run].settings[place].as_str());
    let group = |members: Vec<usize>| {
        let mut group = Group {
            repetitions: over.repetitions(&members, window),
            runs: members,
            over,
            figures: Vec::new(),
        };
        let figures = 0..mode.metrics().len();
        let spread = |place| group.spread_of(|run| runs[run].figures[place]);
        group.figures = figures.map(spread).collect();
        group
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
        let groups = groups(Mode::Replay, &runs, Replication::Seeds);
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

    // The windows have the means 3, 5, 4, 8 and 10 over their seeds. Their mean is 6, and their variance
    // (9 + 1 + 4 + 4 + 16) / 4 = 8.5. The published percentile of t with 4 degrees of freedom is 2.776445.
    #[test]
    fn seeds_of_a_window_are_averaged_first() {
        let values = [[2.0, 4.0], [4.0, 6.0], [1.0, 7.0], [8.0, 8.0], [9.0, 11.0]];
        let mut rows = Vec::new();
        for (window, of_seeds) in values.iter().enumerate() {
            for (seed, value) in of_seeds.iter().enumerate() {
                let [mut row] =
                    <[_; 1]>::try_from(runs(&[("30", &seed.to_string(), Some(*value))])).unwrap();
                let place = Mode::Replay
                    .settings()
                    .iter()
                    .position(|field| field.name == WINDOW);
                row.settings[place.unwrap()] = (window + 1).to_string();
                rows.push(row);
            }
        }
        let [group] = &groups(Mode::Replay, &rows, Replication::Windows)[..] else {
            panic!("more than one group");
        };
        assert_eq!(
            (group.repetitions(), group.seeds(), group.windows()),
            (5, 2, Some(5))
        );
        let work = Mode::Replay.metric("total_work").unwrap();
        let spread = group.spread(Mode::Replay, &work).unwrap();
        assert_eq!((spread.repetitions, spread.mean), (5, 6.0));
        let half = 2.776_445 * (8.5_f64 / 5.0).sqrt();
        assert!((spread.reach().unwrap() - half).abs() < 1e-5);
    }
}
