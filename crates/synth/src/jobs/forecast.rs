//! Forecasts submissions by smoothing the true numbers and multiplying them by random errors.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

use super::batch::Draft;
use super::rhythm::DAY;

/// Seconds in an interval.
const INTERVAL: i64 = 600;
/// Number of neighbouring intervals on each side over which an interval is smoothed.
const REACH: usize = 2;
/// Standard deviation of the relative error.
const ERROR: f64 = 0.2;

/// The submissions in an interval of ten minutes, and their forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The second at which the interval begins.
    pub time: i64,
    /// Number of jobs submitted.
    pub jobs: u32,
    /// Number of GPUs that these jobs request.
    pub gpus: u64,
    /// Forecast number of jobs.
    pub forecast_jobs: f64,
    /// Forecast number of GPUs.
    pub forecast_gpus: f64,
}

/// The intervals from the start of the first job's day to the end of the last day.
pub fn of(drafts: &[Draft], days: u32, rng: &mut ChaCha8Rng) -> Vec<Interval> {
    let first = drafts.first().map_or(0, |draft| draft.submit / DAY * DAY);
    let times = (first..i64::from(days) * DAY).step_by(INTERVAL as usize);
    let mut intervals: Vec<Interval> = times.map(Interval::empty).collect();
    for draft in drafts {
        let interval = &mut intervals[((draft.submit - first) / INTERVAL) as usize];
        interval.jobs += 1;
        interval.gpus += u64::from(draft.gpus);
    }
    for index in 0..intervals.len() {
        let near = index.saturating_sub(REACH)..intervals.len().min(index + REACH + 1);
        let near = &intervals[near];
        let mean = |of: fn(&Interval) -> f64| near.iter().map(of).sum::<f64>() / near.len() as f64;
        let (jobs, gpus) = (mean(|i| i.jobs.into()), mean(|i| i.gpus as f64));
        intervals[index].forecast_jobs = wrong(jobs, rng);
        intervals[index].forecast_gpus = wrong(gpus, rng);
    }
    intervals
}

/// A value multiplied by a random error factor, rounded to a tenth.
fn wrong(value: f64, rng: &mut ChaCha8Rng) -> f64 {
    let factor = Normal::new(1.0, ERROR).map_or(1.0, |error| error.sample(rng));
    (value * factor.max(0.0) * 10.0).round() / 10.0
}

impl Interval {
    fn empty(time: i64) -> Self {
        Interval {
            time,
            jobs: 0,
            gpus: 0,
            forecast_jobs: 0.0,
            forecast_gpus: 0.0,
        }
    }
}
