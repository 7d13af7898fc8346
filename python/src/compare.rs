//! The function `compare`, which also accepts solvers in Python.

use std::path::PathBuf;
use std::sync::Arc;

use gleaner::comparison::{Compared, ComparisonSettings, OpenedComparison};
use gleaner_domain::error::Result;
use gleaner_domain::results::Table as ResultTable;
use gleaner_exec_solver::TallyHandle;
use gleaner_runs::compare as tables;
use gleaner_runs::run::RunDir;
use gleaner_solvers::BigM;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::host::Host;
use crate::options::Pairs;
use crate::replay::{in_python, tell_faults};
use crate::run::{Call, Function, Given, Held, Run};

/// Compares solvers. `own` contains the solvers that are Python functions.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    options: Pairs,
    names: Vec<(PathBuf, String)>,
    out: Option<PathBuf>,
    own: Vec<Function>,
) -> PyResult<Py<Run>> {
    let functions: Vec<&Function> = own.iter().collect();
    let given = Given { names, out };
    let call = Call::<ComparisonSettings>::begin(py, "compare", &options, given, &functions)?;
    let (settings, host) = (&call.settings, &call.host);
    let calls_python = !own.is_empty();
    let own = own.iter();
    let own = own.map(|solver| in_python(py, solver, BigM::default(), host));
    let own = own.collect();
    let mut opened =
        host.on_a_thread(py, || OpenedComparison::read(settings, own, host.as_ref()))?;
    call.have_read(py, &mut opened.sources)?;
    let compare = || opened.compare(host.as_ref());
    let compared = if calls_python {
        host.here(py, compare)?
    } else {
        host.on_a_thread(py, compare)?
    };
    let (host, is_strict) = (Arc::clone(host), settings.strict);
    let tallies = compared.tallies.clone();
    let run = call.end(py, HeldComparison(compared))?;
    for tally in &tallies {
        tell_faults(py, Some(tally), is_strict, &host, run.bind(py))?;
    }
    Ok(run)
}

/// The results of a comparison.
struct HeldComparison(Compared);

impl Held for HeldComparison {
    fn is_complete(&self) -> bool {
        self.0.is_complete
    }

    /// A comparison has no summary, because its table of solvers contains all figures.
    fn summary(&self) -> Result<Value> {
        Ok(json!({}))
    }

    fn tables(&self) -> Vec<ResultTable<'_>> {
        let outcome = &self.0.outcome;
        tables::tables(&outcome.answers, &self.0.lines, &outcome.incumbents).into()
    }

    fn write(&mut self, directory: RunDir, _: &Host) -> Result<String> {
        self.0.write(directory)
    }

    fn tallies(&self) -> Vec<TallyHandle> {
        self.0.tallies.clone()
    }
}
