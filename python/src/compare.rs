//! `compare`: with solvers in Python.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use gleaner::cli::compare::{Args, Compared, Opened};
use gleaner_core::error::Result;
use gleaner_core::results::Table as ResultTable;
use gleaner_external::TallyHandle;
use gleaner_formats::output::compare as tables;
use gleaner_formats::output::run::RunDir;
use gleaner_solvers::BigM;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors::exception;
use crate::host::Host;
use crate::options::parse;
use crate::replay::{in_python, tell};
use crate::run::{Arguments, Held, Run};
use crate::table::Table;

/// Compares solvers. `own` are functions of Python, each with its name.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    words: Vec<OsString>,
    names: Vec<(PathBuf, String)>,
    out: Option<PathBuf>,
    own: Vec<(String, Py<PyAny>)>,
) -> PyResult<Py<Run>> {
    let args: Args = parse(py, &words)?;
    let host = Arc::new(Host::default());
    let arguments = Arguments::new(&args, names).map_err(|error| exception(py, error))?;
    let directory = arguments.directory(out.as_deref(), "compare");
    let directory = directory.map_err(|error| exception(py, error))?;
    let mut opened = host.on_a_thread(py, || Opened::read(&args, host.as_ref()))?;
    host.proceed(py)?;
    arguments.name(&mut opened.sources);
    let own = own.into_iter();
    let own = own.map(|(name, solver)| in_python(name, solver, BigM::default(), &host));
    let own = own.collect();
    let compared = host.here(py, || opened.compare(&args, own, host.as_ref()))?;
    let tallies = compared.tallies.clone();
    let run = Run::new(py, HeldComparison(compared), arguments, directory, &host)?;
    for tally in tallies.iter().map(Some).chain([None]) {
        tell(py, tally, args.is_strict(), &host, run.bind(py))?;
    }
    Ok(run)
}

/// A comparison.
struct HeldComparison(Compared);

impl HeldComparison {
    fn tables(&self) -> [ResultTable<'_>; 3] {
        let outcome = &self.0.outcome;
        tables::tables(&outcome.answers, &self.0.lines, &outcome.incumbents)
    }
}

impl Held for HeldComparison {
    fn command(&self) -> &'static str {
        "compare"
    }

    fn is_complete(&self) -> bool {
        self.0.is_complete
    }

    /// A comparison writes none: its table of solvers says it.
    fn summary(&self) -> Result<Value> {
        Ok(json!({}))
    }

    fn names(&self) -> Vec<String> {
        self.tables()
            .iter()
            .map(|table| table.name.to_owned())
            .collect()
    }

    fn table(&self, name: &str) -> Result<Option<Table>> {
        let tables = self.tables();
        let table = tables.iter().find(|table| table.name == name);
        table.map(Table::of).transpose()
    }

    fn write(&mut self, directory: RunDir, _: &Host) -> Result<Vec<String>> {
        Ok(vec![self.0.write(directory)?])
    }

    fn tallies(&self) -> Vec<TallyHandle> {
        self.0.tallies.clone()
    }
}
