//! Graphs, data sets and networks are read, built, trained and compared with the original.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attention;
mod dataset_build;
mod dataset_file;
mod gradients;
mod grouping;
mod inspector;
mod learning;
mod read;
mod reference;
mod support;
mod synth;
mod synth_workload;
mod torch_files;
