//! Slurm: arrays are submitted by `sbatch` and followed by `squeue`. Nothing else of it is needed: which
//! runs are done is known from the store.

mod limits;
mod options;
mod program;
mod queue;
mod script;
mod submit;

pub use options::SlurmOptions;
pub use queue::{Jobs, Queue};
pub use script::Call;
pub use submit::{Submission, submit};
