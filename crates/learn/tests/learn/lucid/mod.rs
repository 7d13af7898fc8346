//! Features and models of Lucid, compared with published data and reference implementations.

mod estimators;
mod packing;
mod throughput;
mod workload;
