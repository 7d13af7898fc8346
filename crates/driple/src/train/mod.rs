//! Trains networks on the batches of a data set, and keeps the parameters of the best epoch.

mod batch;
pub mod checkpoint;
mod plan;
mod scale;
pub mod start;
mod state;
mod training;

pub use checkpoint::CheckpointError;
pub use plan::{Learns, Plan, Schedule};
pub use scale::Scale;
pub use start::{Start, StartError};
pub use state::{Best, Epoch, State};
pub use training::{Stage, Training};
