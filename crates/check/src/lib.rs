//! Verifies the results of a run: recomputes all values that follow from other tables or from the inputs, and
//! compares them with the recorded values.
//!
//! ```
//! use gleaner_check::files;
//! use gleaner_domain::Unobserved;
//! use gleaner_domain::Digest;
//! use gleaner_domain::results::run::Listed;
//!
//! let folder = tempfile::tempdir()?;
//! let steps = folder.path().join("steps.csv");
//! std::fs::write(&steps, "time\n")?;
//! let sha256 = Digest::of(b"time\n").to_string();
//! let listed = [Listed { path: "steps.csv".to_owned(), bytes: 5, sha256 }];
//! assert_eq!(files(folder.path(), &listed, &[], &Unobserved)?.wrong_count, 0);
//! std::fs::write(&steps, "edited\n")?;
//! assert_eq!(files(folder.path(), &listed, &[], &Unobserved)?.wrong_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The check shares only the domain types with the engines, so that a mistake in an engine is not repeated in the
//! check. The check also finds tables that were changed after the run.

mod files;
mod report;
mod search;

pub mod again;
pub mod replay;
pub mod simulate;
pub mod sweep;
pub mod tables;

pub use files::{files, inputs};
pub use report::Findings;
