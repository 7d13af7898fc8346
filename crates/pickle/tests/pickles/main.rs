//! Tests which pickles are decoded and which are refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decode;
mod faults;
