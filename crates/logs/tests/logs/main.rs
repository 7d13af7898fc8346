//! Tests that schedulers' logs, polls and traces of spot instances are converted to the expected event logs.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod bounds;
mod clocks;
mod damaged;
mod faults;
mod limits;
mod machines;
mod parquet_tables;
mod poll_events;
mod poll_samples;
mod polls;
mod queue;
mod round_trips;
mod samples;
mod schedules;
mod slurm_itself;
mod spot;
mod stop;
mod support;
mod tables;
