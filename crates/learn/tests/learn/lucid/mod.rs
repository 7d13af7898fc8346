//! Compares the features and models of Lucid with published data and reference implementations.

mod estimators;
mod packing;
mod throughput;
mod workload;
