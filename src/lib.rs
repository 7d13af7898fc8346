//! Gleaner computes what elastic deep-learning training could harvest from a
//! supercomputer's idle nodes.
//!
//! The layers, each of which depends only on those below it:
//! - [`cli`]: arguments in, exit code out;
//! - [`output`] and [`report`]: results to bytes and to pages;
//! - [`ingest`]: files to domain types;
//! - the engines [`replay`], [`lucid`], [`occupancy`], [`inspect`], [`compare`], [`sweep`] and
//!   [`synth`], which use no files and no terminal;
//! - [`models`] and [`driple`]: trained models in use;
//! - [`verify`]: what runs wrote, computed again;
//! - [`results`]: what runs come to, as types;
//! - [`domain`];
//! - [`files`]: files written whole, and hashed as they are read;
//! - the crates [`gleaner_solvers`], [`gleaner_models`], [`gleaner_driple`] and [`gleaner_pickle`].

pub mod cli;
pub mod compare;
pub mod domain;
pub mod driple;
pub mod error;
pub mod files;
pub mod ingest;
pub mod inspect;
pub mod lucid;
pub mod models;
pub mod occupancy;
pub mod output;
pub mod replay;
pub mod report;
pub mod results;
pub mod sweep;
pub mod synth;
pub mod verify;
mod words;

pub use error::{Error, Fault, Faults, Result};
