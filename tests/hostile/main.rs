//! Attacks the program with harmful files and harmful events. The tests check that memory and time stay bounded, all
//! exit codes are documented, no escape byte reaches the terminal, and no directory contains a mixture of two runs.
//!
//! The harmful files contain text that decompresses without end, short input that requests large
//! tables, numbers at the edge of every range, or names that control terminals. Other files are
//! truncated or changed. The harmful events are kills, signals, races, and changes to files while
//! they are read.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod changed;
mod inflated;
mod kills;
mod mutations;
mod names;
mod numbers;
mod options;
mod parquet;
mod races;
mod signals;
mod simulate;
mod support;
mod tables;
