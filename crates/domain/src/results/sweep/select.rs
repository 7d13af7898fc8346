//! Chooses the best settings of a sweep.

use super::groups::Group;
use super::metrics::Metric;
use super::mode::Mode;
use super::spread::Spread;
use crate::results::Direction;

/// Values that differ from the best value by at most this fraction of it count as equal. If the same work is summed in
/// another order, the sum can differ in its last digits.
const EQUAL: f64 = 1e-9;

/// The best settings according to a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// The index of the group with these settings.
    pub group: usize,
    /// Mean, deviation and interval of the metric over the repetitions of these settings.
    pub spread: Spread,
    /// Number of groups whose means equal the best mean, including these settings.
    pub as_good: usize,
    /// Number of other groups whose means are worse by less than the best group's standard
    /// deviation over its repetitions.
    pub within_spread: usize,
}

/// The group with the best mean of `metric`. Ties are broken by each figure of [`Mode::ties`] in turn, then by the
/// order of the groups. `None` if the metric only describes runs, or if no group has a value for it.
pub fn best(groups: &[Group], mode: Mode, metric: &Metric) -> Option<Best> {
    let all: Vec<usize> = (0..groups.len()).collect();
    let leaders = leading(groups, mode, &all, metric);
    let mut left = leaders.clone();
    for tie in mode.ties(metric) {
        let fewer = leading(groups, mode, &left, &tie);
        if !fewer.is_empty() {
            left = fewer;
        }
    }
    let group = *left.first()?;
    let spread = groups[group].spread(mode, metric)?;
    let reach = spread.deviation.unwrap_or(0.0);
    let is_near = |other: &Group| {
        let mean = other.mean(mode, metric);
        mean.is_some_and(|mean| (mean - spread.mean).abs() < reach)
    };
    // The indices in `leaders` are in ascending order, so a binary search finds them.
    let others = (0..groups.len()).filter(|place| leaders.binary_search(place).is_err());
    Some(Best {
        group,
        spread,
        as_good: leaders.len(),
        within_spread: others.filter(|&place| is_near(&groups[place])).count(),
    })
}

/// The indices of the groups with the best mean of `metric`, among the groups with the indices `places`.
fn leading(groups: &[Group], mode: Mode, places: &[usize], metric: &Metric) -> Vec<usize> {
    let value = |place: &usize| groups[*place].mean(mode, metric);
    let values = places.iter().filter_map(value);
    let best = match metric.best {
        None => None,
        Some(Direction::Max) => values.reduce(f64::max),
        Some(Direction::Min) => values.reduce(f64::min),
    };
    let Some(best) = best else {
        return Vec::new();
    };
    let reaches = |value: f64| (value - best).abs() <= EQUAL * best.abs();
    let leads = |place: &usize| value(place).is_some_and(reaches);
    places.iter().copied().filter(leads).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Replication;
    use super::super::groups::{SweepRow, groups};
    use super::*;

    /// A replay's `t_fwd`, seed and figures.
    type Replayed<'a> = (&'a str, &'a str, &'a [(&'a str, Option<f64>)]);

    fn replays(rows: &[Replayed<'_>]) -> Vec<SweepRow> {
        let run = |(window, seed, figures): &Replayed<'_>| {
            let setting = |name: &str| match name {
                "t_fwd" => (*window).to_owned(),
                "seed" => (*seed).to_owned(),
                _ => String::new(),
            };
            let figure = |name: &str| figures.iter().find(|(other, _)| *other == name)?.1;
            let (settings, metrics) = (Mode::Replay.settings(), Mode::Replay.metrics());
            SweepRow {
                settings: settings.iter().map(|field| setting(field.name)).collect(),
                figures: metrics.iter().map(|m| figure(m.name)).collect(),
            }
        };
        rows.iter().map(run).collect()
    }

    /// Replays, each given by its `t_fwd`, seed and total work.
    pub fn runs(rows: &[(&str, &str, Option<f64>)]) -> Vec<SweepRow> {
        let works: Vec<_> = rows.iter().map(|row| [("total_work", row.2)]).collect();
        let rows: Vec<(&str, &str, &[_])> = rows
            .iter()
            .zip(&works)
            .map(|(row, work)| (row.0, row.1, work.as_slice()))
            .collect();
        replays(&rows)
    }

    fn best_of(runs: &[SweepRow], by: &str) -> Option<Best> {
        let metric = Mode::Replay.metric(by).unwrap();
        let groups = groups(Mode::Replay, runs, Replication::Seeds);
        best(&groups, Mode::Replay, &metric)
    }

    // The run with the best figure does not have the best settings.
    #[test]
    fn the_best_settings_have_the_best_mean_over_seeds() {
        let found = best_of(
            &runs(&[
                ("30", "0", Some(9.0)),
                ("30", "1", Some(1.0)),
                ("60", "0", Some(6.5)),
                ("60", "1", Some(5.5)),
                ("90", "0", Some(5.4)),
                ("90", "1", Some(5.4)),
                ("120", "0", None),
                ("120", "1", Some(100.0)),
            ]),
            "total_work",
        )
        .unwrap();
        assert_eq!((found.group, found.as_good), (1, 1));
        assert_eq!(found.spread.mean, 6.0);
        assert!((found.spread.deviation.unwrap() - 0.5f64.sqrt()).abs() < 1e-12);
        assert_eq!(found.within_spread, 1);
    }

    #[test]
    fn metrics_without_a_goal_or_without_values_have_no_best() {
        let runs = runs(&[("30", "0", Some(9.0))]);
        assert_eq!(best_of(&runs, "events"), None);
        assert_eq!(best_of(&runs, "rescale_loss"), None);
    }

    // The first two runs have the same work, except for rounding.
    #[test]
    fn ties_are_broken_by_the_next_metric() {
        let row = |work: f64, mean: Option<f64>, loss: f64| {
            [
                ("total_work", Some(work)),
                ("completion_mean_s", mean),
                ("rescale_loss", Some(loss)),
            ]
        };
        let rows = [
            row(0.1 + 0.2, Some(9.0), 1.0),
            row(0.3, Some(8.0), 3.0),
            row(0.3, Some(8.0), 2.0),
            row(0.3, None, 0.0),
            row(0.2, Some(1.0), 0.0),
        ];
        let windows = ["1", "2", "3", "4", "5"];
        let rows: Vec<(&str, &str, &[_])> = windows
            .iter()
            .zip(&rows)
            .map(|(window, row)| (*window, "0", row.as_slice()))
            .collect();
        let found = best_of(&replays(&rows), "total_work").unwrap();
        assert_eq!((found.group, found.as_good), (2, 4));
    }
}
