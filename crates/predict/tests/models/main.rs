//! Tests models that are trained on synthetic and on published traces.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod foresight;
mod stop;
mod venus;
