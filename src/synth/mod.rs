//! Generated event logs, task sets and experiments of GPU clusters, for demos, tests and
//! benches.

pub mod copies;
pub mod events;
pub mod jobs;
pub mod schedule;
pub mod tasks;
