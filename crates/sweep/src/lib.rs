//! Runs sweeps: one run for every combination of the settings in a plan. The runs are executed in one process, or
//! distributed over a batch system.
//!
//! ```
//! use gleaner_sweep::plan::{self, Plan};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("plan.toml");
//! let text = r#"
//!     [replay]
//!     events = "idle.csv"
//!     tasks = "tasks.toml"
//!     t_fwd = [30, 120]
//!     max_tasks = [5, 10, 20]
//! "#;
//! std::fs::write(&file, text)?;
//! let plan = plan::read(&file)?.value;
//! assert!(matches!(plan, Plan::Replay(plan) if plan.count() == 2 * 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`plan`] reads a plan and expands it. [`prepare`] reads everything that the plan's runs need. The [`PreparedRuns`]
//! can then be executed in any order, even in parallel. [`cluster`] distributes the runs over processes on several
//! machines. [`gleaner_domain::results::sweep`] chooses the best settings from the results.

pub mod cluster;
pub mod plan;
mod runs;

pub use runs::{Alike, Attempt, PreparedRuns, execute, prepare, sweep_run};
