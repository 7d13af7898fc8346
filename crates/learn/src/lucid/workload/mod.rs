//! Features of Lucid's Workload Estimate Model. From the user, the submission time, the requests
//! and the measured GPU usage of a job, the model estimates how long the job will run.
//!
//! In published traces, a job's workload was assigned according to the job's own duration, and the
//! workload determines the profile. In these traces, the profile therefore reveals the duration, so
//! [`features`] can leave the profile out.

mod ebm;
mod estimator;
mod model;
mod trial;

pub use ebm::{DurationEbm, Options};
pub use estimator::{Estimator, Fitted, Learning, Past};
pub use model::{EstimatorChoice, WorkloadModel};
pub use trial::{Trial, TrialScore};

use jiff::civil::DateTime;

use super::Usage;
use crate::{Column, Table};

/// The information about a job that is available at its submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Job<'j> {
    /// User who submits the job; empty if unknown.
    pub user: &'j str,
    /// Name of the job; empty if unknown. EBMs do not use the name.
    pub name: &'j str,
    /// Virtual cluster that the job is submitted to; empty if unknown.
    pub vc: &'j str,
    /// Number of GPUs that the job requests.
    pub gpus: u32,
    /// Number of CPUs that the job requests.
    pub cpus: f64,
    /// Submission time, on the cluster's own clock.
    pub submitted: DateTime,
    /// Whether the job uses mixed precision; `None` if unknown.
    pub amp: Option<bool>,
    /// The job's GPU usage. Unknown values are NaN.
    pub usage: Usage,
}

/// Computes a numeric feature from a job.
type Value = fn(&Job<'_>) -> f64;

/// Numeric features that every job has.
const REQUEST: [(&str, Value); 6] = [
    ("gpu_num", |job| f64::from(job.gpus)),
    ("cpu_num", |job| job.cpus),
    ("month", |job| f64::from(job.submitted.month())),
    ("day", |job| f64::from(job.submitted.day())),
    ("hour", |job| f64::from(job.submitted.hour())),
    ("dayofweek", |job| {
        f64::from(job.submitted.weekday().to_monday_zero_offset())
    }),
];

/// Numeric features of profiled jobs; NaN for jobs without a profile.
const PROFILE: [(&str, Value); 4] = [
    ("amp", |job| {
        job.amp.map_or(f64::NAN, |amp| f64::from(u8::from(amp)))
    }),
    ("gpu_util", |job| job.usage.gpu_util),
    ("gmem_util", |job| job.usage.gmem_util),
    ("gmem", |job| job.usage.gmem),
];

/// The table of features, with one row per job: user and virtual cluster as strings, then numbers.
/// The features of the job's profile are included if `profile` is true.
pub fn features(jobs: &[Job<'_>], profile: bool) -> Table {
    let text = |text: fn(&Job<'_>) -> String| {
        let known = jobs
            .iter()
            .map(text)
            .map(|text| Some(text).filter(|text| !text.is_empty()));
        Column::texts(known)
    };
    let mut columns = vec![
        ("user".to_owned(), text(|job| job.user.to_owned())),
        ("vc".to_owned(), text(|job| job.vc.to_owned())),
    ];
    let profile = if profile { &PROFILE[..] } else { &[] };
    columns.extend(REQUEST.iter().chain(profile).map(|(name, value)| {
        let values = jobs.iter().map(value).collect();
        ((*name).to_owned(), Column::Numeric(values))
    }));
    Table::known(columns)
}

/// The label ln(1 + x) of a duration of x seconds, for models that learn logarithms.
pub fn to_log(seconds: f64) -> f64 {
    seconds.ln_1p()
}

/// The duration in seconds, at least 0, that corresponds to a label made by [`to_log`].
pub fn from_log(label: f64) -> f64 {
    label.exp_m1().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_missing() {
        let job = Job {
            user: "",
            name: "",
            vc: "vc1",
            gpus: 4,
            cpus: 2.5,
            submitted: "2020-09-06 23:59:59".parse().unwrap(),
            amp: None,
            usage: Usage {
                gpu_util: 12.5,
                gmem_util: f64::NAN,
                gmem: 2000.0,
            },
        };
        let numbers = |table: &Table| -> Vec<f64> {
            let first = |column: &Column| match column {
                Column::Numeric(values) => Some(values[0]),
                Column::Categorical(_) => None,
            };
            table.columns().iter().filter_map(first).collect()
        };
        let table = features(std::slice::from_ref(&job), false);
        assert_eq!(table.column("user"), Some(&Column::texts([None::<&str>])));
        assert_eq!(table.column("vc"), Some(&Column::texts([Some("vc1")])));
        // The sixth day of the month is a Sunday.
        assert_eq!(numbers(&table), [4.0, 2.5, 9.0, 6.0, 23.0, 6.0]);
        let profile = numbers(&features(&[job], true)).split_off(6);
        assert!(profile[0].is_nan() && profile[2].is_nan());
        assert_eq!((profile[1], profile[3]), (12.5, 2000.0));
    }

    #[test]
    fn logarithms_are_converted_back_to_seconds() {
        for seconds in [0.0, 1.0, 97.0, 1_286_670.0] {
            assert!((from_log(to_log(seconds)) - seconds).abs() <= 1e-9 * seconds);
        }
        assert_eq!((to_log(0.0), from_log(-0.5)), (0.0, 0.0));
    }
}
