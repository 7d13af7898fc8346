//! Features and models of Lucid, compared with published data and reference implementations.
#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod estimators;
mod packing;
mod support;
mod throughput;
mod workload;
