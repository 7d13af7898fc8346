//! Runs: results that were just computed, or the content of a run directory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gleaner::threads;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::results::Table as ResultTable;
use gleaner_exec_solver::TallyHandle;
use gleaner_io::SourceId;
use gleaner_runs::read as runs;
use gleaner_runs::read::RunInfo;
use gleaner_runs::run::RunDir;
use gleaner_setup::settings::Settings;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use crate::errors::{exception, parts};
use crate::host::{Host, Remark, with_run};
use crate::options::{Pairs, read};
use crate::table::Table;

/// The results of a run, with methods that return and write them.
pub trait Held: Send {
    /// Whether the run reached its end.
    fn is_complete(&self) -> bool;

    /// The content of `summary.json`.
    ///
    /// # Errors
    /// The summary cannot be converted to JSON, which never happens in practice.
    fn summary(&self) -> Result<Value>;

    /// All tables, except those that take a long time to compute.
    fn tables(&self) -> Vec<ResultTable<'_>> {
        Vec::new()
    }

    /// Names of the tables.
    fn names(&self) -> Vec<String> {
        let tables = self.tables();
        tables.iter().map(|table| table.name.to_owned()).collect()
    }

    /// The table with this name; `None` if there is no such table.
    ///
    /// # Errors
    /// The table cannot be computed or read.
    fn table(&self, name: &str) -> Result<Option<Table>> {
        let tables = self.tables();
        let table = tables.iter().find(|table| table.name == name);
        table.map(Table::of).transpose()
    }

    /// Writes the run directory. Returns a line that describes its content.
    ///
    /// # Errors
    /// A file cannot be written, or the run was read from a directory.
    fn write(&mut self, directory: RunDir, host: &Host) -> Result<String>;

    /// Faults of the skipped inputs.
    fn skipped(&self) -> &[Fault] {
        &[]
    }

    /// For each solver that is not built in, the numbers of its answers by outcome.
    fn tallies(&self) -> Vec<TallyHandle> {
        Vec::new()
    }
}

/// A Python function or class that takes part in a run.
#[derive(FromPyObject)]
pub struct Function {
    /// The option whose value is the function, or the function's own name if the option accepts several functions.
    pub role: String,
    /// The name of the function or class.
    pub name: String,
    /// SHA-256 of the source, or of the compiled code if there is no source; `None` if neither is available.
    pub sha256: Option<String>,
    /// The function or class itself.
    pub value: Py<PyAny>,
}

impl Function {
    /// The name of the function in results.
    pub fn title(&self) -> String {
        format!("python:{}", self.name)
    }
}

/// A request for a run: the settings, the context and the run directory.
pub struct Call<S> {
    /// The requested settings.
    pub settings: Arc<S>,
    /// The context of the run.
    pub host: Arc<Host>,
    arguments: Arguments,
    directory: Option<RunDir>,
}

/// The Python tables among the inputs, and the directory for the results.
pub struct Given {
    /// The files to which Python tables were written, each with the name of its table.
    pub names: Vec<(PathBuf, String)>,
    /// The run directory; `None` if the run is not to be written.
    pub out: Option<PathBuf>,
}

impl<S: Settings + Serialize> Call<S> {
    /// Reads the options of a command, and opens the directory of the run. `functions` are the Python functions
    /// that the run calls.
    ///
    /// # Errors
    /// `UsageError`: an option is wrong, or the directory cannot be used.
    pub fn begin(
        py: Python<'_>,
        command: &'static str,
        options: &Pairs,
        given: Given,
        functions: &[&Function],
    ) -> PyResult<Self> {
        let settings: S = read(py, options)?;
        let Given { names, out } = given;
        let opened = || {
            let mut arguments = Arguments::new(command, &settings, names)?;
            arguments.list(functions);
            let directory = out.map(|out| arguments.directory(&out)).transpose()?;
            Ok((arguments, directory))
        };
        let (arguments, directory) = opened().map_err(|error| exception(py, error))?;
        Ok(Call {
            settings: Arc::new(settings),
            host: Arc::default(),
            arguments,
            directory,
        })
    }

    /// Called when all inputs have been read. In `sources`, the paths of files that contain Python tables are replaced
    /// with the names of the tables.
    ///
    /// # Errors
    /// An exception stopped the run while the inputs were being read.
    pub fn have_read(&self, py: Python<'_>, sources: &mut [SourceId]) -> PyResult<()> {
        self.arguments.name(sources);
        self.host.proceed(py)
    }

    /// Ends the call and returns the run. If a run directory was requested, the run is first written to it.
    ///
    /// # Errors
    /// The run cannot be written, or an exception stopped it, for example after Ctrl-C. The exception's attribute `run`
    /// holds the run.
    pub fn end(self, py: Python<'_>, mut held: impl Held + 'static) -> PyResult<Py<Run>> {
        let host = Arc::clone(&self.host);
        let write = || self.directory.map(|directory| held.write(directory, &host));
        let written = py.detach(|| threads::with(None, || write().transpose()));
        let run = Run {
            command: self.arguments.command.to_owned(),
            held: Mutex::new(Box::new(held)),
            arguments: Some(self.arguments),
            host,
        };
        let run = Py::new(py, run)?;
        let shown = run.bind(py);
        written.map_err(|error| with_run(py, exception(py, error), shown.as_any()))?;
        self.host.end(py, shown.as_any())?;
        Ok(run)
    }
}

/// The arguments of a run as `run.json` lists them. Python tables are listed by name instead of path.
struct Arguments {
    command: &'static str,
    values: Value,
    names: Vec<(PathBuf, String)>,
}

impl Arguments {
    fn new(
        command: &'static str,
        args: &impl Serialize,
        names: Vec<(PathBuf, String)>,
    ) -> Result<Self> {
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
        Ok(Arguments {
            command,
            values,
            names,
        })
    }

    /// Records the Python functions: sets the option of each function to `python:NAME`, and adds the digests of all
    /// functions.
    fn list(&mut self, functions: &[&Function]) {
        let Some(values) = self.values.as_object_mut() else {
            return;
        };
        let mut listed = serde_json::Map::new();
        for function in functions {
            let title = Value::String(function.title());
            // In commands other than `replay`, the options already contain the functions' names.
            if self.command == "replay" {
                values.insert(function.role.clone(), title.clone());
            }
            let described = json!({"name": title, "sha256": function.sha256});
            listed.insert(function.role.clone(), described);
        }
        if !listed.is_empty() {
            values.insert("functions".to_owned(), Value::Object(listed));
        }
    }

    fn name(&self, sources: &mut [SourceId]) {
        for source in sources {
            if let Some(name) = named(&self.names, &source.path) {
                source.path = name.into();
            }
        }
    }

    fn directory(&self, path: &Path) -> Result<RunDir> {
        RunDir::open(path, self.command, &self.values)
    }
}

fn named<'n>(names: &'n [(PathBuf, String)], path: &Path) -> Option<&'n str> {
    let name = names.iter().find(|(file, _)| file == path);
    name.map(|(_, name)| name.as_str())
}

/// A run. The Python class `gleaner.Run` wraps this class.
#[pyclass(frozen, name = "_Run", module = "gleaner", weakref)]
pub struct Run {
    command: String,
    held: Mutex<Box<dyn Held>>,
    /// The arguments of the run; `None` if the run was read from a directory.
    arguments: Option<Arguments>,
    host: Arc<Host>,
}

impl Run {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&mut dyn Held) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            what(held.as_mut())
        });
        done.map_err(|error| exception(py, error))
    }
}

#[pymethods]
impl Run {
    #[getter]
    fn command(&self) -> &str {
        &self.command
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

    fn remarks(&self) -> Vec<Remark> {
        self.host.remarks()
    }

    fn skipped(&self, py: Python<'_>) -> PyResult<Vec<[String; 6]>> {
        self.with(py, |held| {
            Ok(held.skipped().iter().cloned().map(parts).collect())
        })
    }

    /// For each solver that is not built in, the numbers of its answers by outcome, as JSON.
    fn tallies(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |held| {
            let tallies = held.tallies();
            let tallies: Vec<_> = tallies.iter().filter_map(TallyHandle::to_keep).collect();
            serde_json::to_string(&tallies).map_err(|e| Error::Run(e.to_string()))
        })
    }

    /// Writes the run directory. Returns a line that describes its content.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<String> {
        let Some(arguments) = &self.arguments else {
            return Err(exception(py, is_stored()));
        };
        self.with(py, |held| {
            let directory = arguments.directory(&path)?;
            threads::with(None, || held.write(directory, &self.host))
        })
    }
}

/// A run that was read from a directory.
struct Stored(RunInfo);

impl Held for Stored {
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

    fn write(&mut self, _: RunDir, _: &Host) -> Result<String> {
        Err(is_stored())
    }
}

fn is_stored() -> Error {
    Error::Usage("this run was read from a directory: copy the directory instead".into())
}

/// Opens a run directory.
#[pyfunction]
pub fn open_run(py: Python<'_>, path: PathBuf) -> PyResult<Run> {
    let host = Arc::<Host>::default();
    let info = host.on_a_thread(py, || runs::info(&path))?;
    Ok(Run {
        command: info.command.clone(),
        held: Mutex::new(Box::new(Stored(info))),
        arguments: None,
        host,
    })
}
