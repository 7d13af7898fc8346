//! Compares the job-trace simulator with a plain simulator on random traces, and both simulators with the published
//! results.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod broken;
mod checked;
mod corrected;
mod coverage;
mod decisions;
mod idle;
mod in_use;
mod odd;
mod plain;
mod product;
mod properties;
mod published;
mod rare;
mod references;
mod same;
mod small;
mod stop;
mod table;
mod town;
mod venus;
