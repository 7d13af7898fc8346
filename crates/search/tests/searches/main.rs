//! Compares searches on various numbers of workers with plain implementations that follow the papers line by line.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asha;
mod bohb;
mod curves;
mod halving;
mod median;
mod naive;
mod pbt;
mod plans;
mod properties;
mod scale;
mod workers;
