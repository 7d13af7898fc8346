//! Simulates scheduling policies on job traces of GPU clusters. The results show how long jobs wait and run
//! under each policy.
//!
//! ```
//! use gleaner_domain::Unobserved;
//! use gleaner_simulate::policies::{self, Without};
//! use gleaner_simulate::{Request, Simulation, placers, simulate};
//! # use gleaner_synth::jobs::{Amount, JobOptions, generate};
//!
//! # let amount = Amount::Jobs(50);
//! # let options = JobOptions { vcs: 2, nodes: 8, gpus_per_node: 8, days: 1, amount, seed: 1 };
//! # let made = generate(&options, &Unobserved)?;
//! # let jobs = made.jobs().map(|(job, _)| job).collect();
//! # let (trace, cluster) = (gleaner_domain::Trace { jobs, ..Default::default() }, made.cluster);
//! let simulation = Simulation {
//!     trace: &trace, cluster: &cluster, start: 0, placer: placers::ALL[0],
//!     estimates: None, forecast: None, packing: None, profiler: None,
//!     without: Without::default(), check: true,
//! };
//! let policy = policies::ALL[0];
//! let request = Request { name: policy.name, policy, corrected: false };
//! let runs = simulate(&simulation, &[request], &Unobserved)?;
//! assert_eq!(runs[0].finished().len(), trace.jobs.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The simulation advances from event to event. Its results match those of Lucid's simulator (Hu et al., ASPLOS 2023)
//! to the second. Lucid's simulator steps through every second. In this crate, "the original" is Lucid's simulator.
//!
//! [`mod@simulate`] runs [`policies`] with a placer of [`placers`] on every virtual cluster. [`engine`] simulates a
//! single virtual cluster. [`gleaner_domain::results::schedule`] contains the types of the results.

pub mod checker;
pub mod engine;
pub mod free;
pub mod idle;
pub mod metrics;
pub mod nodes;
pub mod placer;
pub mod placers;
pub mod policies;
pub mod policy;
pub mod profiler;
pub mod scaling;
pub mod simulate;
pub mod view;

mod gauges;
mod in_use;
mod quota;
mod recorder;
mod service;
mod vc_inputs;
mod world;

pub use simulate::{Request, SimulateError, Simulation, simulate, simulate_in_turn};
