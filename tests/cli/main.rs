//! The program as a user runs it: exit codes, messages, files.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod browser;
mod check;
mod clocks;
mod completions;
mod documents;
mod driple;
mod explain;
mod ingest_slurm;
mod ingest_traces;
mod inspect;
mod install;
mod man;
mod models;
mod outputs;
mod program;
mod range;
mod replay;
mod replay_spans;
mod report;
mod runs;
mod shared_curves;
mod simulate;
mod simulate_dates;
mod simulate_extreme;
mod simulate_faults;
mod simulate_gpus;
mod simulate_long;
mod simulate_options;
mod simulate_original;
mod simulate_usage;
mod solve;
mod subcommands;
mod support;
mod sweep;
mod synth_jobs;
