//! The time between successive rows of the state tables.

use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::schedule::Samples;

/// Seconds between samples.
const MINUTE: i64 = 60;

/// Maximum total number of rows in the state tables of all policies. This number allows a row for
/// each minute when seven policies are simulated on thirty virtual clusters for a year.
const MOST_ROWS: u64 = 120_000_000;

/// Possible numbers of minutes between rows. Longer intervals are whole numbers of days.
const STEPS: [u64; 11] = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720];

/// Minutes in a day.
const DAY: u64 = 1440;

/// The time between rows: a minute, or longer if there would be too many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    minutes: u64,
}

impl Default for Interval {
    /// The shortest interval: a minute.
    fn default() -> Self {
        Interval { minutes: 1 }
    }
}

impl Interval {
    /// The shortest interval for which the tables of all runs together have at most `MOST_ROWS` rows.
    pub fn of(runs: &[PolicyRun]) -> Self {
        Self::within(sampled_minutes(runs), MOST_ROWS)
    }

    /// The shortest interval at which `minutes` minutes yield at most `most` rows.
    fn within(minutes: u64, most: u64) -> Self {
        let least = minutes.div_ceil(most).max(1);
        let step = STEPS.into_iter().find(|step| *step >= least);
        Interval {
            minutes: step.unwrap_or(least.div_ceil(DAY) * DAY),
        }
    }

    /// The interval in seconds.
    pub fn seconds(self) -> i64 {
        MINUTE * self.minutes as i64
    }

    /// A note on the interval; `None` if the interval is one minute.
    pub fn remark(self, runs: &[PolicyRun]) -> Option<String> {
        (self.minutes > 1).then(|| {
            format!(
                "the state tables (_seq) have a row every {} minutes: with a row every minute, they would \
                 have {:.1e} rows",
                self.minutes,
                sampled_minutes(runs) as f64
            )
        })
    }

    /// The samples of a virtual cluster for which the table has a row. The first sample always has a row. In each
    /// returned [`Samples`], `first` is the time of the first row, in seconds, and `count` is the number of rows.
    pub(super) fn rows(self, samples: &[Samples]) -> impl Iterator<Item = Samples> + '_ {
        let origin = samples.first().map_or(0, |samples| samples.first);
        let step = self.minutes as i64;
        samples.iter().filter_map(move |samples| {
            let from = (samples.first - origin) / MINUTE;
            let until = from + i64::from(samples.count);
            // Multiples of the step from `from` to `until`, exclusive.
            let (first, end) = (next_multiple(from, step), next_multiple(until, step));
            (first < end).then(|| Samples {
                first: origin + MINUTE * first,
                count: ((end - first) / step) as u32,
                state: samples.state,
            })
        })
    }

    /// The time, in seconds, of each row of a [`Samples`] that [`Interval::rows`] returned.
    pub(super) fn times(self, rows: &Samples) -> impl Iterator<Item = i64> + use<> {
        let (first, step) = (rows.first, self.seconds());
        (0..i64::from(rows.count)).map(move |row| first + step * row)
    }
}

/// Total number of minutes that are sampled under all policies and in the profiler.
fn sampled_minutes(runs: &[PolicyRun]) -> u64 {
    let vcs = runs.iter().flat_map(|run| &run.vcs).map(|vc| &vc.schedule);
    let profiler = runs.iter().find_map(|run| run.profiler.as_ref());
    let schedules = vcs.chain(profiler.map(|profiler| &profiler.schedule));
    let samples = schedules.flat_map(|schedule| &schedule.samples);
    samples.map(|samples| u64::from(samples.count)).sum()
}

/// The smallest multiple of `step` that is at least `value`. `value` is not negative.
fn next_multiple(value: i64, step: i64) -> i64 {
    (value + step - 1) / step * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::results::schedule::State;
    use proptest::prelude::*;

    #[test]
    fn rows_are_a_minute_apart_unless_there_are_too_many() {
        for (minutes, expected) in [(0, 1), (100, 1), (101, 2), (201, 5), (1001, 15)] {
            assert_eq!(Interval::within(minutes, 100).minutes, expected);
        }
        assert_eq!(Interval::within(72_001, 100).minutes, 1440);
        assert_eq!(Interval::within(144_001, 100).minutes, 2880);
        assert_eq!(Interval::within(u64::MAX, u64::MAX).seconds(), 60);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        /// The expected rows are every n-th minute from the first minute.
        #[test]
        fn rows_are_every_nth_minute(
            first in -100i64..100,
            counts in prop::collection::vec(1u32..40, 0..20),
            minutes in prop::sample::select(vec![1u64, 2, 5, 30, 1440]),
        ) {
            let (interval, mut at) = (Interval { minutes }, 60 * first);
            let samples: Vec<Samples> = counts.iter().zip(0..).map(|(&count, jobs)| {
                let state = State { running_jobs: jobs, ..State::default() };
                let samples = Samples { first: at, count, state };
                at += 60 * i64::from(count);
                samples
            }).collect();
            let minute = Interval::default();
            let all = samples.iter().flat_map(|s| minute.times(s).map(|time| (time, s.state)));
            let expected: Vec<_> = all.step_by(minutes as usize).collect();
            let rows: Vec<Samples> = interval.rows(&samples).collect();
            let found = rows.iter().flat_map(|s| interval.times(s).map(|time| (time, s.state)));
            prop_assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }
}
