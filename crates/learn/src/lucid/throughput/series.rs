//! The submissions to a cluster in each interval.

use jiff::SignedDuration;
use jiff::civil::DateTime;

/// Length of an interval, in minutes.
pub const MINUTES: i64 = 10;

/// The number of GPU jobs submitted in each of several consecutive ten-minute intervals, and the
/// number of GPUs that these jobs request.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    start: DateTime,
    jobs: Vec<f64>,
    gpus: Vec<f64>,
}

/// The reason why values cannot form a series.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeriesError {
    /// The lists of jobs and of GPUs have different numbers of intervals.
    #[error(
        "found {jobs} intervals of GPU jobs and {gpus} intervals of GPUs, expected equal numbers"
    )]
    Length {
        /// Number of intervals in the list of jobs.
        jobs: usize,
        /// Number of intervals in the list of GPUs.
        gpus: usize,
    },
    /// A value is missing or infinite. Holds the start time of the value's interval.
    #[error("the interval at {0} has a value that is not a finite number")]
    NotFinite(DateTime),
}

impl Series {
    /// Creates a series whose first interval begins at `start`. For each interval, `jobs` holds the
    /// number of submitted GPU jobs, and `gpus` the number of GPUs that they request.
    ///
    /// # Errors
    /// The lengths differ, or a value is not finite.
    pub fn new(start: DateTime, jobs: Vec<f64>, gpus: Vec<f64>) -> Result<Self, SeriesError> {
        if jobs.len() != gpus.len() {
            return Err(SeriesError::Length {
                jobs: jobs.len(),
                gpus: gpus.len(),
            });
        }
        let series = Series { start, jobs, gpus };
        let finite = |step: &usize| (series.jobs[*step] + series.gpus[*step]).is_finite();
        match (0..series.len()).find(|step| !finite(step)) {
            Some(step) => Err(SeriesError::NotFinite(series.time(step))),
            None => Ok(series),
        }
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are no intervals.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The beginning of interval `step`, which can lie beyond the end of the series. A time after the year 9999 is
    /// replaced with the last representable time.
    pub fn time(&self, step: usize) -> DateTime {
        let minutes = i64::try_from(step).unwrap_or(i64::MAX / MINUTES / 60) * MINUTES;
        self.start
            .saturating_add(SignedDuration::from_mins(minutes))
    }

    /// For each interval, the number of submitted GPU jobs.
    pub fn jobs(&self) -> &[f64] {
        &self.jobs
    }

    /// For each interval, the number of GPUs that the submitted GPU jobs request.
    pub fn gpus(&self) -> &[f64] {
        &self.gpus
    }

    /// Number of intervals that begin before a time. This is the index of the first test interval
    /// if training ends at this time.
    pub fn steps_before(&self, time: DateTime) -> usize {
        let steps = time.duration_since(self.start).as_secs();
        let steps = usize::try_from(steps.max(0)).unwrap_or(usize::MAX);
        steps.div_ceil(60 * MINUTES as usize).min(self.len())
    }

    /// Appends an interval, with the actual or expected numbers of submitted GPU jobs and requested
    /// GPUs.
    pub fn push(&mut self, jobs: f64, gpus: f64) {
        self.jobs.push(jobs);
        self.gpus.push(gpus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ten_minutes_apart() {
        let start: DateTime = "2020-02-28 23:50".parse().unwrap();
        let series = Series::new(start, vec![0.0; 300], vec![0.0; 300]).unwrap();
        let time = |step| series.time(step).to_string();
        assert_eq!(time(1), "2020-02-29T00:00:00");
        assert_eq!(time(145), "2020-03-01T00:00:00");
        assert_eq!(
            series.steps_before("2020-03-01 00:00".parse().unwrap()),
            145
        );
        assert_eq!(
            series.steps_before("2020-03-01 00:01".parse().unwrap()),
            146
        );
        assert_eq!(series.steps_before("2019-01-01 00:00".parse().unwrap()), 0);
        assert_eq!(
            series.steps_before("2021-01-01 00:00".parse().unwrap()),
            300
        );
        assert_eq!(series.time(usize::MAX), DateTime::MAX);
    }

    #[test]
    fn unequal_lengths_and_missing_values_are_refused() {
        let start: DateTime = "2020-01-01 00:00".parse().unwrap();
        let error = |jobs: &[f64], gpus: &[f64]| {
            let series = Series::new(start, jobs.to_vec(), gpus.to_vec());
            series.unwrap_err().to_string()
        };
        let message = error(&[1.0], &[]);
        assert_eq!(
            message,
            "found 1 intervals of GPU jobs and 0 intervals of GPUs, expected equal numbers"
        );
        let message = error(&[1.0, 1.0], &[1.0, f64::NAN]);
        assert!(message.contains("2020-01-01T00:10:00"), "{message}");
    }
}
