//! The simulator of job traces against a plain one, and the plain one against the
//! published results.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod coverage;
#[path = "../support/data.rs"]
mod data;
mod plain;
mod product;
mod properties;
mod references;
mod same;
mod table;
mod town;
mod venus;
