//! Converts errors to Python's exceptions, which `gleaner/errors.py` defines.

use gleaner_domain::error::{Error, Fault};
use gleaner_solvers::SolveError;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Converts an error to a Python exception.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    let text = error.to_string();
    let made = match error {
        Error::Interrupted | Error::Stopped => return PyKeyboardInterrupt::new_err(text),
        Error::Data(faults) => {
            let faults: Vec<_> = faults.0.into_iter().map(parts).collect();
            class(py, "DataError").and_then(|class| class.call1((text, faults)))
        }
        Error::Io { source, path, .. } => {
            let name = path.display().to_string();
            let code = source.raw_os_error();
            class(py, "FileError").and_then(|class| class.call1((text, code, name)))
        }
        Error::Usage(_) => plain(py, "UsageError", text),
        Error::Solve(error) if error.is_wrong_choice() => plain(py, "UsageError", text),
        Error::Solve(SolveError::Invalid(_)) => plain(py, "DataError", text),
        Error::Solve(_) | Error::Run(_) => plain(py, "RunError", text),
    };
    made.map_or_else(|failed| failed, PyErr::from_value)
}

/// A fault as the arguments of Python's `Fault`.
pub fn parts(fault: Fault) -> [String; 6] {
    [
        fault.file,
        fault.place,
        fault.field,
        fault.found,
        fault.expected,
        fault.remedy,
    ]
}

fn plain<'py>(py: Python<'py>, name: &str, text: String) -> PyResult<Bound<'py, PyAny>> {
    class(py, name)?.call1((text,))
}

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("gleaner.errors")?.getattr(name)
}
