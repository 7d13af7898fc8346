//! Measures the speed and resource use of workloads, alone and in pairs on the same devices or cores. Simulations
//! and Lucid's packing model use these measurements.
//!
//! [`plan::read`] reads and validates a plan, and [`Session`] makes the measurements that are missing. [`tables`]
//! converts measurements to rows, and [`scaling`] measures workloads with 1, 2, 4, … processes. docs/PROFILING.md
//! describes the protocol.
//!
//! ```
//! let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dataset/profile.toml");
//! let plan = gleaner_profile::plan::read(plan.as_ref())?.value;
//! assert!(plan.configs.len() >= 2 && !plan.pairs.is_empty());
//! println!("each is measured for {} s", plan.settings.seconds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
