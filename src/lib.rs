//! Gleaner: what elastic deep-learning training could harvest from a
//! supercomputer's idle nodes.
//!
//! Layers, dependencies pointing down only: [`cli`] (arguments in, exit code out),
//! [`output`] and [`report`] (results to bytes and to pages), [`ingest`] (files to domain
//! types), the engines [`replay`], [`lucid`], [`occupancy`], [`inspect`], [`compare`],
//! [`sweep`] and [`synth`] (no files, no terminal), [`models`] and [`driple`] (trained models in their use),
//! [`domain`], [`files`] (written whole, hashed as they are read), and the crates [`gleaner_solvers`], [`gleaner_models`], [`gleaner_driple`]
//! and [`gleaner_pickle`].

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
pub mod sweep;
pub mod synth;
mod words;

pub use error::{Error, Fault, Faults, Result};
