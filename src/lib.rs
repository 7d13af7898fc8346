//! Gleaner replays logs of a supercomputer's idle nodes, and allocates the nodes to elastic training tasks with an
//! optimal allocator. It also simulates scheduling policies on traces of GPU clusters.
//!
//! The three most common uses are:
//!
//! **Replay a log**: how much work would training tasks have done on the idle nodes?
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
//! **Solve one decision**: how should the nodes be divided among the tasks?
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
//! **Compare scheduling policies**: how long do the jobs of a trace take under each policy?
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
//! | `cbc` (default) | the MILP solver CBC, linked from the system |
//! | `cli` (default) | the command-line program `gleaner`, in the module `cli` |
//! | `harvest` | `gleaner harvest`, which trains tasks on the idle nodes of a live cluster |
//! | `baselines` | random forests, gradient boosting and perceptrons as baselines for the models |
//!
//! With `default-features = false`, the library includes only the exact solver, which finds provably optimal
//! plans. The build then needs only a Rust toolchain and a C compiler.
//!
//! # Overview
//!
//! [`Replay`], [`Simulation`] and [`Sweep`] read inputs, run an engine, and write run directories, which
//! [`Open`] reads back as a [`Run`]. The library never prints anything and never exits the process. Instead, an
//! [`Observer`] receives remarks and progress, and can stop a run. The module [`engines`] gives direct access to the
//! underlying crates.

#[cfg(feature = "cli")]
pub mod cli;
pub mod comparison;
pub mod ingest;
pub mod inspection;
mod open;
pub mod pilots;
pub mod replay;
pub mod simulation;
pub mod solving;
pub mod sweep;
pub mod threads;

pub use gleaner_domain::{Error, Fault, Observer, Result, Unobserved};
pub use gleaner_domain::{EventLog, EventLogBuilder, Objective, TrainingTask, Utc};
pub use gleaner_inputs::tasks::{GivenTask, TaskSet as Tasks};
pub use gleaner_runs::read::{Run, RunResult};
pub use gleaner_solvers::{Allocation, Limits, Problem, Solver, SolverSpec, Status};
pub use open::Open;
pub use replay::Replay;
pub use simulation::Simulation;
pub use sweep::Sweep;

/// An objective as a function. The function returns the value per second, in any unit, of running a task on the given
/// number of nodes.
pub type TaskObjective<'a> = dyn Fn(&TrainingTask, u32) -> f64 + Send + 'a;

/// The crates on which [`Replay`], [`Simulation`] and [`Sweep`] are built.
pub mod engines {
    pub use gleaner_document as document;
    pub use gleaner_domain as domain;
    pub use gleaner_exec_solver as exec_solver;
    pub use gleaner_inputs as inputs;
    pub use gleaner_inspect as inspect;
    pub use gleaner_io as io;
    pub use gleaner_logs as logs;
    pub use gleaner_pilots as pilots;
    pub use gleaner_predict as predict;
    pub use gleaner_replay as replay;
    pub use gleaner_runs as runs;
    pub use gleaner_search as search;
    pub use gleaner_setup as setup;
    pub use gleaner_simulate as simulate;
    pub use gleaner_solvers as solvers;
    pub use gleaner_sweep as sweep;
}
