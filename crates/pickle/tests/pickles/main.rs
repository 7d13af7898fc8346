//! Pickles that are decoded or refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod decode;
mod faults;
