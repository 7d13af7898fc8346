//! The files that `gleaner simulate` writes, from schedules that are handmade, random, or read from the reference
//! tables.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod idle;
mod logs;
mod references;
mod results;
mod support;
mod tables;
