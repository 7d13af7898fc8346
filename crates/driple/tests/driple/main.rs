//! Tests that graphs, data sets and networks can be read, built and trained, and that the results
//! agree with the original.
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
