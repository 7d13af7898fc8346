//! Gleaner replays the logs of a supercomputer's idle nodes into an optimal allocator of elastic training tasks,
//! and simulates scheduling policies on traces of GPU clusters.
//!
//! Three things that most users do:
//!
//! **Replay a log**: how much would training tasks have gained from the idle nodes?
//!
//! ```
//! use gleaner::Replay;
//!
//! # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("run");
//! let mut replayed = Replay::of_files("dataset/idle.csv", "dataset/tasks.toml")
//!     .t_fwd(120.0)
//!     .objective("rate / left")?
//!     .run()?;
//! println!("{} work in {} s", replayed.summary().total_work, replayed.summary().span_seconds);
//! replayed.write(&out)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Solve one decision**: how should these nodes be divided among these tasks?
//!
//! ```
//! use gleaner::{Problem, Status};
//!
//! let problem: Problem = serde_json::from_str(
//!     r#"{"id": "now", "nodes": 6, "t_fwd": 120, "tasks": [
//!         {"name": "a", "current": 2, "min_nodes": 1, "max_nodes": 4, "rescale_up": 10, "rescale_down": 5,
//!          "curve_nodes": [0, 1, 4], "curve_objective": [0, 1, 3]},
//!         {"name": "b", "current": 0, "min_nodes": 2, "max_nodes": 6, "rescale_up": 10, "rescale_down": 5,
//!          "curve_nodes": [0, 6], "curve_objective": [0, 5]}]}"#,
//! )?;
//! let plan = problem.solve()?;
//! assert_eq!(plan.status, Status::Optimal);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Compare scheduling policies** on a trace of jobs:
//!
//! ```
//! use gleaner::Simulation;
//!
//! # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
//! let simulated = Simulation::of_directory("dataset/cluster")
//!     .policies(["fifo", "sjf", "tiresias"])
//!     .run()?;
//! for (name, figures) in simulated.entries() {
//!     println!("{name}: jobs complete after {} s on average", figures.all.avg_jct_s);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `highs` (default) | the MILP solver HiGHS, built from source |
//! | `cbc` (default) | the MILP solver CBC of the system |
//! | `cli` (default) | the program `gleaner`, in `cli` |
//! | `baselines` | random forests, gradient boosting and perceptrons, to compare models with |
//!
//! With `default-features = false` only the exact solver is there: a Rust toolchain and a C compiler are all that a
//! build needs. It proves every plan optimal.
//!
//! # Where things are
//!
//! [`Replay`], [`Simulation`] and [`Sweep`] read inputs, run an engine, and write run directories, which
//! [`Open`] reads again as a [`Run`]. Nothing here prints or ends the process: an [`Observer`] hears remarks and
//! progress, and can stop a run. [`engines`] has the parts that these use, for callers who drive them alone.

#[cfg(feature = "cli")]
pub mod cli;
mod open;
pub mod replay;
pub mod simulation;
pub mod sweep;
pub mod threads;

pub use gleaner_core::domain::{EventLog, EventLogBuilder, Objective, Time, TrainingTask};
pub use gleaner_core::{Error, Fault, Observer, Result, Unobserved};
pub use gleaner_formats::ingest::runs::{Run, RunResult};
pub use gleaner_formats::ingest::tasks::{GivenTask, TaskSet as Tasks};
pub use gleaner_solvers::{Allocation, Limits, Problem, Solver, SolverSpec, Status};
pub use open::Open;
pub use replay::Replay;
pub use simulation::Simulation;
pub use sweep::Sweep;

/// The value of a task on a number of nodes, in units of its own per second.
pub type TaskObjective<'a> = dyn Fn(&TrainingTask, u32) -> f64 + Send + 'a;

/// Everything that [`Replay`], [`Simulation`] and [`Sweep`] are made of.
pub mod engines {
    pub use gleaner_core as core;
    pub use gleaner_external as external;
    pub use gleaner_formats as formats;
    pub use gleaner_inspect as inspect;
    pub use gleaner_predict as predict;
    pub use gleaner_replay as replay;
    pub use gleaner_setup as setup;
    pub use gleaner_simulate as simulate;
    pub use gleaner_solvers as solvers;
    pub use gleaner_sweep as sweep;
}

/// Turns the logs of schedulers into logs of idle nodes.
pub mod ingest {
    pub use gleaner_formats::ingest::scheduler::{Format, Options, Summary, read};
}
