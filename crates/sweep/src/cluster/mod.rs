//! Sweeps that are shared by several processes on several machines: docs/CLUSTER.md.
//!
//! The file system is the truth. Every process finds in the [`Store`] which runs are done, and adds
//! what it has done. [`Deal`] says which process does which runs, [`State`] what there is and what
//! went wrong, and [`slurm`] submits job arrays and follows them.
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
