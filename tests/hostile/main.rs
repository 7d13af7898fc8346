//! Files and moments that somebody chose to do harm: bounded memory and time, exit codes as
//! documented, no escape byte on the terminal, no directory that mixes two runs.
//!
//! The classes are those of an attack on the program: text that inflates without end, short
//! input that asks for large tables, numbers at the edge of every range, names that steer
//! terminals, cut and changed files, kills, signals, races, files that change while they are
//! read.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod changed;
mod inflated;
mod kills;
mod mutations;
mod names;
mod numbers;
mod parquet;
mod races;
mod signals;
mod support;
mod tables;
