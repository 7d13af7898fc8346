//! The Python module `gleaner._gleaner`: the engines of Gleaner for the package in `python/gleaner`, which users
//! import.
//!
//! Options are passed by name and parsed according to their declarations in the library. Results stay on the Rust side.
//! Python receives their tables as Arrow streams, without copying the data.

mod answer;
mod commands;
mod compare;
mod errors;
mod frame;
mod host;
mod log;
mod options;
mod page;
mod policy;
mod problem;
mod replay;
mod run;
mod search;
mod simulate;
mod stack;
mod table;
mod task;

use pyo3::prelude::*;

/// The engines, for internal use. Import the package `gleaner` instead.
#[pymodule]
mod _gleaner {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::answer::{Answer, SolveOptions};
    #[pymodule_export]
    use crate::commands::{ingest_logs, inspect_log, log_formats, pilots_of_log, sweep_plan};
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::frame::write_frame;
    #[pymodule_export]
    use crate::log::{EventLog, Trace};
    #[pymodule_export]
    use crate::options::options;
    #[pymodule_export]
    use crate::page::{Figure, Page, report_runs};
    #[pymodule_export]
    use crate::policy::{Job, Preempt, Share, Start, View};
    #[pymodule_export]
    use crate::problem::{ClassProblem, Problem, ProblemTask, read_problem, read_problems};
    #[pymodule_export]
    use crate::replay::replay;
    #[pymodule_export]
    use crate::run::{Run, open_run};
    #[pymodule_export]
    use crate::search::Schedule;
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::stack::{spread, stack_tables, table_of};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::task::{Task, write_tasks};

    /// Version of the program.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for the version")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command-line interface. Returns the exit code.
    #[pyfunction]
    fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
        py.detach(|| gleaner::cli::main(words))
    }
}
