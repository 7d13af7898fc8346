//! Shares a sweep among several processes on several machines (docs/CLUSTER.md).
//!
//! The file system holds all shared state. Every process reads from the [`Store`] which runs are done, and adds its
//! own results to it. [`Deal`] assigns runs to processes, [`State`] reports progress and problems, and [`slurm`]
//! submits job arrays and follows them.
//!
//! [`Store`]: gleaner_store::Store

mod batch;
mod costs;
mod deal;
mod share;
pub mod slurm;
mod state;

pub use batch::{Batch, BatchFolder, BrokenBatch};
pub use costs::Costs;
pub use deal::Deal;
pub use share::Share;
pub use state::{State, Trouble, troubles};
