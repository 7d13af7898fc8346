//! Submits a sweep to Slurm with `sbatch`, and follows its jobs with `squeue`. The store records which runs are done,
//! so Slurm's accounting is not needed.
//!
//! 1. [`submit()`] assigns the missing runs to parts ([`Deal`](super::Deal)). It writes the assignment, two scripts and
//!    the file that describes the batch.
//! 2. [`submit()`] submits the parts as job arrays. With 2,500 parts and `MaxArraySize` 1001, the arrays have 1,001,
//!    1,001 and 498 tasks.
//! 3. Each task executes one part with `gleaner sweep --part`. Tasks are numbered from 0 and parts from 1, so task 3 of
//!    the second array executes part 1,001 + 3 + 1 = 1,005.
//! 4. Another job starts when all arrays have ended (`afterany`) and runs `gleaner sweep --collect`. This job
//!    writes the tables, or submits lost runs as a new batch.
//!
//! Jobs have names such as `gleaner-0123abcd-0`, which contain the name of the batch and a number. [`Queue`] finds them
//! by these names, even if the submission was interrupted before it recorded their ids.

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
