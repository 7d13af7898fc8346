//! Verifies the results that a run wrote: what can be computed from other tables or from the inputs is
//! computed again and compared.
//!
//! Nothing here is shared with the engines but the domain types, so that an engine's mistake does not
//! confirm itself. A table that somebody changed is found, too.

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
