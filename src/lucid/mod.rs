//! Simulates scheduling policies on job traces of GPU clusters, from event to event and
//! to the second what the simulator of Lucid (Hu et al., ASPLOS 2023) gives, which steps
//! through every second.

pub mod idle;
pub mod inputs;
pub mod metrics;
pub mod result;
pub mod schedule;
