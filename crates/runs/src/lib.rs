//! Writes the results of a run into its directory as tables, JSON and text, and reads them back as the same types.
//!
//! A run directory is validated like any other input. Names are checked, digests are compared, and every cell is parsed
//! as its column's type.
//!
//! ```
//! use gleaner_runs::run::RunDir;
//!
//! let folder = tempfile::tempdir()?;
//! let run = RunDir::open(&folder.path().join("run"), "replay", &())?;
//! run.begin(&[])?;
//! // The run has not finished yet.
//! let error = gleaner_runs::read::read(run.path()).unwrap_err();
//! assert!(error.to_string().contains("run.json"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod classes;
pub mod compare;
pub mod driple;
pub mod evaluation;
pub mod experiment;
pub mod explanation;
pub mod graphs;
pub mod inspect;
pub mod lengths;
pub mod model;
pub mod pilots;
pub mod prediction;
pub mod prepared;
mod pretty;
pub mod read;
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod simulate;
pub mod summary;
pub mod sweep;
pub mod training;
mod workloads;
