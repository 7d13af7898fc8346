//! Applies the models of [`gleaner_learn`]: creates training data from Gleaner's types, and defines the contents of
//! model files. Also converts estimates and forecasts to inputs of the simulator.
//!
//! ```
//! use gleaner_domain::Unobserved;
//! use gleaner_learn::lucid::workload::{Estimator, Learning};
//! use gleaner_predict::{Calendar, estimates_by, known_jobs, past_jobs};
//! # use gleaner_synth::jobs::{Amount, JobOptions, generate};
//!
//! # let amount = Amount::Jobs(50);
//! # let options = JobOptions { vcs: 2, nodes: 8, gpus_per_node: 8, days: 1, amount, seed: 1 };
//! # let made = generate(&options, &Unobserved)?;
//! # let jobs = made.jobs().map(|(job, _)| gleaner_domain::Job { workload: None, ..job }).collect();
//! # let (trace, cluster) = (gleaner_domain::Trace { jobs, ..Default::default() }, made.cluster);
//! // Learns from the first 30 jobs of a trace how long its jobs run.
//! let calendar = Calendar::new("2026-01-01 00:00".parse()?);
//! let past = past_jobs(&trace, &known_jobs(&trace, &cluster, calendar), 0..30);
//! let learning = Learning { profile: false, seed: 1, monotone: Vec::new() };
//! let fitted = Estimator::Median.fit(&past, &learning, &Unobserved)?;
//! let estimates = estimates_by(&fitted, &trace, &cluster, calendar);
//! assert_eq!(estimates.0.len(), trace.jobs.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calendar;
pub mod driple;
pub mod evaluate;
pub mod expected;
pub mod explanation;
mod forecast;
mod scores;
pub mod stored;
mod trained;
mod weekly;
mod workload;

pub use calendar::Calendar;
pub use forecast::{forecast_by, forecast_trained, submissions};
pub use scores::{
    learn_scores, packing_pairs, packing_profiles, packing_row, score_profiles, score_workloads,
};
pub use trained::{Kind, Model, Span, Trained};
pub use weekly::{Simulated, Week, Weekly, WeeklyEstimates};
pub use workload::{estimates_by, known_jobs, past_jobs};
