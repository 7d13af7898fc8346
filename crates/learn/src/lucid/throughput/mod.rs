//! Features of Lucid's throughput model. The model forecasts the submissions to a cluster in each
//! ten-minute interval, based on the calendar and on earlier submissions.
//!
//! The features of an interval use neither the interval itself nor the [`LEAD`] − 1 intervals
//! before it. Therefore up to [`LEAD`] intervals after the end of a [`Series`] can be forecast.

mod deviation;
mod model;
mod series;

pub use model::{ThroughputModel, settings};
pub use series::{MINUTES, Series, SeriesError};

use std::ops::Range;

use jiff::civil::DateTime;

use crate::Table;

/// Names of the features, in order. `njob` is the number of GPU jobs, and `ngpu` the number of GPUs
/// that they request.
pub const FEATURES: [&str; 25] = [
    "month",
    "day",
    "hour",
    "minute",
    "dayofweek",
    "dayofyear",
    "week",
    "shift_1h_njob",
    "shift_3h_njob",
    "shift_1d_njob",
    "soft_1h_njob",
    "soft_3h_njob",
    "soft_1d_njob",
    "roll_mean_1h_njob",
    "roll_median_1h_njob",
    "roll_std_1h_njob",
    "shift_1h_ngpu",
    "shift_3h_ngpu",
    "shift_1d_ngpu",
    "soft_1h_ngpu",
    "soft_3h_ngpu",
    "soft_1d_ngpu",
    "roll_mean_1h_ngpu",
    "roll_median_1h_ngpu",
    "roll_std_1h_ngpu",
];

/// Features of one interval, in the order of [`FEATURES`].
pub type Row = [f64; FEATURES.len()];

/// The lags of the features, in intervals: an hour, three hours and a day.
const LAGS: [usize; 3] = [6, 18, 144];

/// Number of values in a sliding window, which covers one hour.
const WINDOW: usize = 6;

/// The minimum distance, in intervals, between an interval and the intervals that its features use.
pub const LEAD: usize = LAGS[0] - 1;

/// The features of all intervals of a series, with one row per interval. A feature is 0 if it depends on values before
/// the series.
pub fn features(series: &Series) -> Table {
    table(series, 0..series.len())
}

/// Like [`rows`], but returns a table.
pub fn table(series: &Series, steps: Range<usize>) -> Table {
    Table::of_rows(FEATURES, &rows(series, steps))
}

/// The features of the intervals with the indices `steps`. They can include the first [`LEAD`] intervals after the end
/// of the series. Later intervals are left out, because their features depend on unknown values.
pub fn rows(series: &Series, steps: Range<usize>) -> Vec<Row> {
    let known = series.len() + LEAD;
    let past = [series.jobs(), series.gpus()].map(Past::new);
    (steps.start..steps.end.min(known))
        .map(|step| row_of(series.time(step), &past, step))
        .collect()
}

fn row_of(time: DateTime, past: &[Past<'_>; 2], step: usize) -> Row {
    let history = past.iter().flat_map(|past| past.before(step));
    let mut features = calendar(time).into_iter().chain(history);
    std::array::from_fn(|_| features.next().unwrap_or_default())
}

/// Month, day, hour, minute, day of the week (Monday = 0), day of the year, and ISO 8601 week.
fn calendar(time: DateTime) -> [f64; 7] {
    let date = time.date();
    [
        f64::from(time.month()),
        f64::from(time.day()),
        f64::from(time.hour()),
        f64::from(time.minute()),
        f64::from(date.weekday().to_monday_zero_offset()),
        f64::from(date.day_of_year()),
        f64::from(date.iso_week_date().week()),
    ]
}

/// The values of a series, and the standard deviations of its windows.
struct Past<'s> {
    values: &'s [f64],
    deviations: Vec<Option<f64>>,
}

impl<'s> Past<'s> {
    fn new(values: &'s [f64]) -> Self {
        let deviations = deviation::sliding(values);
        Past { values, deviations }
    }

    /// The nine features of interval `step` that are computed from earlier values. Unknown features
    /// are 0.
    fn before(&self, step: usize) -> [f64; 9] {
        let [hour, hours, day] = LAGS;
        let window = window(self.values, step);
        let deviation = || *self.deviations.get(step.checked_sub(hour)?)?;
        [
            lagged(self.values, step, hour),
            lagged(self.values, step, hours),
            lagged(self.values, step, day),
            soft(self.values, step, hour),
            soft(self.values, step, hours),
            soft(self.values, step, day),
            window.as_ref().map(mean),
            window.as_ref().map(median),
            deviation(),
        ]
        .map(Option::unwrap_or_default)
    }
}

fn lagged(values: &[f64], step: usize, lag: usize) -> Option<f64> {
    values.get(step.checked_sub(lag)?).copied()
}

/// Half of the value at a lag plus a quarter of each of its two neighbours.
fn soft(values: &[f64], step: usize, lag: usize) -> Option<f64> {
    let neighbours = lagged(values, step, lag + 1)? + lagged(values, step, lag - 1)?;
    Some(0.5 * lagged(values, step, lag)? + 0.25 * neighbours)
}

/// The [`WINDOW`] values that end an hour before interval `step`; `None` if not all of them exist.
fn window(values: &[f64], step: usize) -> Option<[f64; WINDOW]> {
    let end = (step + 1).checked_sub(LAGS[0])?;
    let window = values.get(end.checked_sub(WINDOW)?..end)?;
    window.try_into().ok()
}

fn mean(window: &[f64; WINDOW]) -> f64 {
    window.iter().sum::<f64>() / WINDOW as f64
}

fn median(window: &[f64; WINDOW]) -> f64 {
    crate::metrics::median(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(jobs: Vec<f64>) -> Series {
        let gpus = jobs.iter().map(|jobs| 8.0 * jobs).collect();
        let start = "2020-12-31 23:00".parse().unwrap();
        Series::new(start, jobs, gpus).unwrap()
    }

    fn row(series: &Series, step: usize) -> Option<Row> {
        rows(series, step..step + 1).first().copied()
    }

    fn feature(row: &Row, name: &str) -> f64 {
        row[FEATURES.iter().position(|other| *other == name).unwrap()]
    }

    // The last day of a year and the first day of the next year are both in week 53 of ISO 8601.
    #[test]
    fn the_calendar_turns_at_midnight() {
        let series = series(vec![0.0; 7]);
        let before = &row(&series, 5).unwrap()[..7];
        assert_eq!(before, [12.0, 31.0, 23.0, 50.0, 3.0, 366.0, 53.0]);
        let after = &row(&series, 6).unwrap()[..7];
        assert_eq!(after, [1.0, 1.0, 0.0, 0.0, 4.0, 1.0, 53.0]);
    }

    // If the values of a series are squares, the soft average exceeds the value at the lag by ½.
    #[test]
    fn lags_and_windows_of_squares() {
        let series = series((0..200).map(|step| f64::from(step).powi(2)).collect());
        let row = row(&series, 200).unwrap();
        for (name, lag) in [("1h", 6), ("3h", 18), ("1d", 144)] {
            let value = f64::from(200 - lag).powi(2);
            assert_eq!(feature(&row, &format!("shift_{name}_njob")), value);
            assert_eq!(feature(&row, &format!("shift_{name}_ngpu")), 8.0 * value);
            assert_eq!(feature(&row, &format!("soft_{name}_njob")), value + 0.5);
        }
        // The window contains 189² to 194².
        assert_eq!(feature(&row, "roll_median_1h_njob"), 36_672.5);
        let mean = feature(&row, "roll_mean_1h_njob");
        assert!((mean - 220_051.0 / 6.0).abs() < 1e-9);
        // The values are (191.5 + d)² for d from −2.5 to 2.5. They deviate from their mean by `383
        // d + d² − 35/12`. The variance is the sum of the squares of these deviations, divided by
        // 5.
        let variance = (383.0f64.powi(2) * 17.5 + 112.0 / 3.0) / 5.0;
        assert!((feature(&row, "roll_std_1h_njob") - variance.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn unknown_features_are_zero_and_unknown_rows_are_none() {
        let series = series(vec![7.0; 20]);
        let row_18 = row(&series, 18).unwrap();
        assert_eq!(feature(&row_18, "shift_3h_njob"), 7.0);
        assert_eq!(feature(&row_18, "soft_3h_njob"), 0.0);
        assert_eq!(feature(&row_18, "shift_1d_njob"), 0.0);
        assert_eq!(
            feature(&row(&series, 10).unwrap(), "roll_mean_1h_njob"),
            0.0
        );
        assert_eq!(
            feature(&row(&series, 11).unwrap(), "roll_mean_1h_njob"),
            7.0
        );
        assert!(row(&series, 24).is_some() && row(&series, 25).is_none());
    }
}
