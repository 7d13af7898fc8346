//! Tests the models on synthetic data, for which the true functions are known, and on published
//! data.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "baselines")]
mod baselines;
mod ebm;
mod lucid;
mod support;
mod throughput;
mod tree;
