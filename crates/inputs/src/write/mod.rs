//! Writers of inputs, in the formats that this crate reads.

pub mod answers;
pub mod events;
pub mod learning_curves;
pub mod schedule;
pub mod tasks;
