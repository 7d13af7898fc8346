//! Tests that valid pickles are decoded, and that damaged and hostile pickles are refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decode;
mod faults;
