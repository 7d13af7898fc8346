//! Runs: what was computed, or what a run directory holds.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gleaner::cli::threads;
use gleaner_core::error::{Error, Fault, Result};
use gleaner_external::TallyHandle;
use gleaner_formats::ingest::SourceId;
use gleaner_formats::ingest::runs::{self, RunInfo};
use gleaner_formats::output::run::RunDir;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::errors::{exception, parts};
use crate::host::{Host, with_run};
use crate::table::Table;

/// Results, and how they are written.
pub trait Held: Send {
    /// The subcommand whose run it is.
    fn command(&self) -> &'static str;

    /// Whether the run reached its end.
    fn is_complete(&self) -> bool;

    /// What `summary.json` says.
    ///
    /// # Errors
    /// None in practice.
    fn summary(&self) -> Result<Value>;

    /// Names of the tables.
    fn names(&self) -> Vec<String>;

    /// A table; `None` if there is none of this name.
    ///
    /// # Errors
    /// It cannot be made or read.
    fn table(&self, name: &str) -> Result<Option<Table>>;

    /// Writes the run directory, and says what it holds.
    ///
    /// # Errors
    /// A file cannot be written.
    fn write(&mut self, directory: RunDir, host: &Host) -> Result<Vec<String>>;

    /// Faults of the inputs that were left out.
    fn skipped(&self) -> &[Fault] {
        &[]
    }

    /// The counts of the answers of solvers that are not ours.
    fn tallies(&self) -> Vec<TallyHandle> {
        Vec::new()
    }
}

/// The arguments of a run as `run.json` lists them. Tables of Python have names instead of paths.
#[derive(Clone)]
pub struct Arguments {
    values: Value,
    names: Vec<(PathBuf, String)>,
}

impl Arguments {
    /// The arguments `args`, in which files stand for these tables of Python.
    ///
    /// # Errors
    /// None in practice: arguments can be serialised.
    pub fn new(args: &impl Serialize, names: Vec<(PathBuf, String)>) -> Result<Self> {
        let mut values = serde_json::to_value(args).map_err(|e| Error::Run(e.to_string()))?;
        let fields = values.as_object_mut().into_iter();
        for value in fields.flat_map(|fields| fields.values_mut()) {
            let name = value
                .as_str()
                .and_then(|path| named(&names, Path::new(path)));
            if let Some(name) = name {
                *value = Value::String(name.to_owned());
            }
        }
        Ok(Arguments { values, names })
    }

    /// Gives the sources that are tables of Python their names.
    pub fn name(&self, sources: &mut [SourceId]) {
        for source in sources {
            if let Some(name) = named(&self.names, &source.path) {
                source.path = name.into();
            }
        }
    }

    /// A run directory, if there is a path.
    ///
    /// # Errors
    /// As [`RunDir::open`].
    pub fn directory(&self, path: Option<&Path>, command: &'static str) -> Result<Option<RunDir>> {
        let open = |path| RunDir::open(path, command, &self.values);
        path.map(open).transpose()
    }
}

fn named<'n>(names: &'n [(PathBuf, String)], path: &Path) -> Option<&'n str> {
    let name = names.iter().find(|(file, _)| file == path);
    name.map(|(_, name)| name.as_str())
}

/// A run. `gleaner.Run` is made of it.
#[pyclass(frozen, name = "_Run", module = "gleaner", weakref)]
pub struct Run {
    held: Mutex<Box<dyn Held>>,
    arguments: Option<Arguments>,
    host: Arc<Host>,
}

impl Run {
    /// What was computed, after it is written to a directory if there is one.
    ///
    /// # Errors
    /// It cannot be written. The exception has the run as its attribute `run`.
    pub fn new(
        py: Python<'_>,
        mut held: impl Held + 'static,
        arguments: Arguments,
        directory: Option<RunDir>,
        host: &Arc<Host>,
    ) -> PyResult<Py<Self>> {
        let write = || directory.map(|directory| held.write(directory, host));
        let written = py.detach(|| threads::with(None, || write().transpose()));
        let run = Py::new(
            py,
            Run {
                held: Mutex::new(Box::new(held)),
                arguments: Some(arguments),
                host: Arc::clone(host),
            },
        )?;
        match written {
            Ok(_) => Ok(run),
            Err(error) => Err(with_run(py, exception(py, error), run.bind(py).as_any())),
        }
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&mut dyn Held) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            threads::with(None, || {
                let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
                what(held.as_mut())
            })
        });
        done.map_err(|error| exception(py, error))
    }
}

#[pymethods]
impl Run {
    #[getter]
    fn command(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.with(py, |held| Ok(held.command()))
    }

    #[getter]
    fn complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |held| Ok(held.is_complete()))
    }

    /// `summary.json` as text.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |held| Ok(held.summary()?.to_string()))
    }

    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |held| Ok(held.names()))
    }

    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Option<Table>> {
        self.with(py, |held| held.table(name))
    }

    fn remarks(&self) -> Vec<String> {
        self.host.remarks()
    }

    fn skipped(&self, py: Python<'_>) -> PyResult<Vec<[String; 6]>> {
        self.with(py, |held| {
            Ok(held.skipped().iter().cloned().map(parts).collect())
        })
    }

    /// What became of the answers of solvers that are not ours, as JSON.
    fn tallies(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |held| {
            let tallies = held.tallies();
            let tallies: Vec<_> = tallies.iter().map(TallyHandle::get).collect();
            serde_json::to_string(&tallies).map_err(|e| Error::Run(e.to_string()))
        })
    }

    /// Writes the run directory.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
        let Some(arguments) = &self.arguments else {
            let text = "this run was read from a directory: copy that";
            return Err(exception(py, Error::Usage(text.into())));
        };
        self.with(py, |held| {
            let directory = arguments.directory(Some(&path), held.command())?;
            let written = directory.map(|directory| held.write(directory, &self.host));
            Ok(written.transpose()?.unwrap_or_default())
        })
    }
}

/// A run directory.
struct Stored(RunInfo);

impl Held for Stored {
    fn command(&self) -> &'static str {
        "open"
    }

    fn is_complete(&self) -> bool {
        self.0.complete
    }

    fn summary(&self) -> Result<Value> {
        Ok(self.0.summary()?.unwrap_or(Value::Null))
    }

    fn names(&self) -> Vec<String> {
        self.0.tables().map(str::to_owned).collect()
    }

    fn table(&self, name: &str) -> Result<Option<Table>> {
        if !self.0.tables().any(|table| table == name) {
            return Ok(None);
        }
        let stored = self.0.table(name)?;
        let columns = stored.columns.iter();
        let columns = columns.map(|(name, column)| (name.as_str(), column));
        Table::new(&stored.name, columns).map(Some)
    }

    fn write(&mut self, _: RunDir, _: &Host) -> Result<Vec<String>> {
        Err(Error::Usage("a run directory is not written again".into()))
    }
}

/// Opens a run directory: the command that made it, and the run.
#[pyfunction]
pub fn open_run(py: Python<'_>, path: PathBuf) -> PyResult<(String, Run)> {
    let host = Arc::new(Host::default());
    let info = host.on_a_thread(py, || runs::info(&path))?;
    let run = Run {
        held: Mutex::new(Box::new(Stored(info.clone()))),
        arguments: None,
        host,
    };
    Ok((info.command, run))
}
