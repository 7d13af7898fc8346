//! Generated event logs and task sets, for demos, tests and benches.

pub mod events;
pub mod schedule;
pub mod tasks;
