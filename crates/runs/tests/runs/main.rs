//! Tests of the files that `gleaner simulate` writes. The schedules are handmade, random, or read from the reference
//! tables.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod idle;
mod logs;
mod references;
mod results;
mod support;
mod sweeps;
mod tables;
