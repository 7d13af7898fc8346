//! Simulates scheduling policies on job traces of GPU clusters.
//!
//! The simulation goes from event to event. Its results equal, to the second, those of the
//! simulator of Lucid (Hu et al., ASPLOS 2023), which steps through every second.
//!
//! [`mod@simulate`] runs [`policies`] with a [`placers`] placer on every virtual cluster;
//! [`engine`] simulates one of them; [`gleaner_core::results::schedule`] has the result.

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
