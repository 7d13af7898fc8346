//! The command line of Gleaner. All else is in crates of its own; ARCHITECTURE.md is the map.

pub mod cli;
