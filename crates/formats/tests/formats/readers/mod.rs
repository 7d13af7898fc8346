//! Readers and writers of event logs and tasks, through the public API.

mod cache;
mod clocks;
mod documentation;
mod event_faults;
mod other_programs;
mod published;
mod round_trips;
mod support;
mod task_faults;
mod tasks;
