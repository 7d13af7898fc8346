//! Submits arrays to Slurm with `sbatch` and follows them with `squeue`. Nothing else is needed from Slurm, because the
//! store records which runs are done.

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
