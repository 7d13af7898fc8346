//! Schedulers' logs become the event logs that they should.
#![expect(clippy::unwrap_used, reason = "a test may panic in its helpers too")]

mod faults;
mod round_trips;
mod samples;
mod schedules;
mod support;
