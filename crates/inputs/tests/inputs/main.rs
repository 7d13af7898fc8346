//! Tests the readers and writers of inputs through the public API.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod cache;
mod class_tasks;
mod clocks;
mod corruption;
mod documentation;
mod event_faults;
mod jobs;
mod node_classes;
mod other_programs;
mod published;
mod round_trips;
mod support;
mod task_faults;
mod tasks;
