//! The reports of a workload, and the computation of its speed in a window.

use std::time::Instant;

use crate::failure::NoSpeed;

/// Minimum share of the window that reports must cover. If the reports cover less, the workload may have stalled, so
/// the speed until the last report may differ from the speed in the window.
const LEAST_REACH: f64 = 0.5;

/// A report: the number of samples completed since the start, and the time of arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    pub at: Instant,
    pub samples: u64,
}

/// The reports of a workload that determine its speed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reports {
    /// Start of the window; `None` until it is opened.
    start: Option<Instant>,
    /// The last report before the window.
    before: Option<Report>,
    first: Option<Report>,
    last: Option<Report>,
    inside: usize,
}

impl Reports {
    /// Opens the window at the time `at`.
    pub fn open(&mut self, at: Instant) {
        self.start = Some(at);
    }

    /// The latest reported number of samples.
    pub fn latest(&self) -> Option<u64> {
        self.last.or(self.before).map(|report| report.samples)
    }

    /// Adds a report.
    pub fn add(&mut self, report: Report) {
        if self.start.is_none() {
            self.before = Some(report);
            return;
        }
        self.first.get_or_insert(report);
        self.last = Some(report);
        self.inside += 1;
    }

    /// Computes the speed, in samples per second, in the window that ends at `end`.
    ///
    /// The number of samples at the start of the window is interpolated between the last report before the start and
    /// the first report after it. If there is no report before the start, counting starts with the first report in
    /// the window. Counting ends with the last report in the window. For example, a window starts at second 10.
    /// Reports of 100 samples at second 9 and 200 samples at second 11 result in 150 samples at the start. With a
    /// last report of 250 samples at second 12, the speed is (250 - 150) / 2 = 50 samples per second.
    ///
    /// # Errors
    /// The speed cannot be computed from the reports.
    pub fn speed(&self, end: Instant) -> Result<f64, NoSpeed> {
        let (Some(start), Some(first), Some(last)) = (self.start, self.first, self.last) else {
            return Err(NoSpeed::Reports(0));
        };
        let (from, base) = match self.before {
            Some(before) => (start, between(before, first, start)),
            None if self.inside < 2 => return Err(NoSpeed::Reports(self.inside)),
            None => (first.at, first.samples as f64),
        };
        let seconds = last.at.saturating_duration_since(from).as_secs_f64();
        let reach = last.at.saturating_duration_since(start).as_secs_f64();
        let window = end.saturating_duration_since(start).as_secs_f64();
        if reach < LEAST_REACH * window || seconds <= 0.0 {
            return Err(NoSpeed::Stalled(reach / window.max(f64::MIN_POSITIVE)));
        }
        let samples = last.samples as f64 - base;
        if samples > 0.0 {
            Ok(samples / seconds)
        } else {
            Err(NoSpeed::Nothing)
        }
    }
}

/// Interpolates the number of samples at a time between two reports.
fn between(before: Report, after: Report, at: Instant) -> f64 {
    let since = |time: Instant| time.saturating_duration_since(before.at).as_secs_f64();
    let (low, high) = (before.samples as f64, after.samples as f64);
    match since(after.at) {
        whole if whole > 0.0 => low + (high - low) * (since(at) / whole).min(1.0),
        _ => high,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    /// The speed in a window with the given start and end, in seconds. Each report is a time in seconds and a number
    /// of samples.
    fn speed(window: (f64, f64), reports: &[(f64, u64)]) -> Result<f64, NoSpeed> {
        let zero = Instant::now();
        let at = |seconds: f64| zero + Duration::from_secs_f64(seconds);
        let mut all = Reports::default();
        for &(seconds, samples) in reports {
            if seconds >= window.0 && all.start.is_none() {
                all.open(at(window.0));
            }
            let at = at(seconds);
            all.add(Report { at, samples });
        }
        all.start.get_or_insert(at(window.0));
        all.speed(at(window.1))
    }

    #[test]
    fn the_count_at_the_start_is_between_two_reports() {
        // At second 10, there are 150 samples. Another 100 samples are completed by second 12.
        let found = speed((10.0, 12.0), &[(9.0, 100), (11.0, 200), (12.0, 250)]).unwrap();
        assert!((found - 50.0).abs() < 1e-6, "{found}");
    }

    #[test]
    fn without_a_report_before_counting_begins_at_the_first() {
        let found = speed((10.0, 13.0), &[(11.0, 1000), (13.0, 1010)]).unwrap();
        assert!((found - 5.0).abs() < 1e-6, "{found}");
        let one = speed((10.0, 13.0), &[(11.0, 1000)]);
        assert_eq!(one, Err(NoSpeed::Reports(1)));
    }

    #[test]
    fn no_speed() {
        assert_eq!(speed((1.0, 2.0), &[(0.5, 3)]), Err(NoSpeed::Reports(0)));
        let same = [(0.5, 3), (1.9, 3)];
        assert_eq!(speed((1.0, 2.0), &same), Err(NoSpeed::Nothing));
        let stalled = speed((1.0, 11.0), &[(0.5, 3), (3.0, 5)]);
        let Err(NoSpeed::Stalled(share)) = stalled else {
            panic!("{stalled:?}")
        };
        assert!((share - 0.2).abs() < 1e-6);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // If a workload's speed is constant, the computed speed equals it, regardless of when the workload reports.
        #[test]
        fn a_constant_speed_is_found(
            rate in 1u64..100_000,
            mut times in proptest::collection::vec(0.0f64..20.0, 3..40),
        ) {
            times.sort_by(f64::total_cmp);
            let (start, end) = (5.0, 20.0);
            // Reported numbers are whole, so reports are made at times at which the exact number of samples is whole.
            let reports: Vec<(f64, u64)> = times
                .iter()
                .map(|time| (time * rate as f64).floor() as u64)
                .map(|samples| (samples as f64 / rate as f64, samples))
                .collect();
            if let Ok(found) = speed((start, end), &reports) {
                // A tolerance is needed because instants are rounded to whole nanoseconds.
                prop_assert!((found / rate as f64 - 1.0).abs() < 1e-3, "{}", found);
            }
        }
    }
}
