//! Measures how fast workloads are, and what they use, alone and in pairs on the same devices or
//! cores: what Lucid's packing and the simulator go by.
//!
//! [`plan::read`] reads and validates a plan, [`Session`] makes the measurements that are missing,
//! [`tables`] makes rows of them, and [`scaling`] measures workloads on 1, 2, 4, … processes.
//! docs/PROFILING.md describes the protocol.

mod cores;
mod failure;
mod log;
mod measure;
pub mod plan;
mod progress;
mod reports;
mod running;
pub mod sampler;
mod samplers;
pub mod scaling;
mod session;
pub mod tables;

pub use failure::{Failed, Problem};
pub use measure::{Measured, Part};
pub use session::{Entry, Machine, Options, Session};
