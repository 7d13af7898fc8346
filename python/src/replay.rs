//! The function `replay`, which also accepts solvers, objectives and searches in Python.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use gleaner::replay::{OwnSolver, Replay, ReplaySettings, Replayed};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::objective::set_objectives;
use gleaner_domain::results::Table as ResultTable;
use gleaner_domain::results::replay::FragmentRow;
use gleaner_domain::{Objective, TrainingTask};
use gleaner_exec_solver::{FunctionSolver, TallyHandle};
use gleaner_runs::replay as tables;
use gleaner_runs::run::RunDir;
use gleaner_setup::solver::report_faults;
use gleaner_solvers::BigM;
use pyo3::prelude::*;
use serde_json::Value;

use crate::answer::plan;
use crate::errors::exception;
use crate::host::{Host, with_run};
use crate::options::Pairs;
use crate::problem::Problem;
use crate::run::{Call, Function, Given, Held, Run};
use crate::search::PythonSearch;
use crate::task::Task;

/// Replays a log. `names` lists the files to which Python tables were written, each with the name of its table.
#[pyfunction]
#[pyo3(signature = (options, names, out = None, solver = None, objective = None, search = None))]
pub fn replay(
    py: Python<'_>,
    options: Pairs,
    names: Vec<(PathBuf, String)>,
    out: Option<PathBuf>,
    solver: Option<Function>,
    objective: Option<Function>,
    search: Option<Function>,
) -> PyResult<Py<Run>> {
    let functions: Vec<&Function> = objective.iter().chain(&solver).chain(&search).collect();
    let given = Given { names, out };
    let call = Call::<ReplaySettings>::begin(py, "replay", &options, given, &functions)?;
    let (settings, host) = (&call.settings, &call.host);
    let replay = Replay::with(ReplaySettings::clone(settings)).observer(host.as_ref());
    let mut opened = host.on_a_thread(py, || replay.open())?;
    call.have_read(py, &mut opened.inputs.sources)?;
    if let Some(objective) = &objective {
        evaluate(py, &mut opened.inputs.tasks, objective.value.bind(py))?;
        opened.inputs.options.objective = Objective::of_function(&objective.name);
    }
    opened.solver = solver
        .as_ref()
        .map(|solver| in_python(py, solver, settings.solver.big_m, host));
    if let Some(search) = &search {
        let of = (opened.inputs.tasks.as_slice(), opened.inputs.options.seed);
        let searcher = PythonSearch::new(py, search.value.clone_ref(py), of, host)?;
        opened.search = Some(Box::new(searcher));
    }
    let calls_python = opened.solver.is_some() || opened.search.is_some();
    let run = || opened.run().map_err(|failed| failed.error);
    let mut replayed = if calls_python {
        host.here(py, run)?
    } else {
        host.on_a_thread(py, run)?
    };
    let summary = &mut replayed.outcome.summary;
    summary.objective_sha256 = objective.and_then(|objective| objective.sha256);
    summary.solver_sha256 = solver.and_then(|solver| solver.sha256);
    summary.search_sha256 = search.and_then(|search| search.sha256);
    host.remark(&replayed.outcome.summary.remarks());
    let (host, is_strict) = (Arc::clone(host), settings.solver.strict);
    let tally = replayed.tally.clone();
    let held = HeldReplay {
        replayed,
        fragments: OnceLock::new(),
    };
    let run = call.end(py, held)?;
    tell_faults(py, tally.as_ref(), is_strict, &host, run.bind(py))?;
    Ok(run)
}

/// Reports the faults of a solver that is not built in.
///
/// # Errors
/// There are faults, and `is_strict` is set. The exception's attribute `run` holds the run.
pub fn tell_faults(
    py: Python<'_>,
    tally: Option<&TallyHandle>,
    is_strict: bool,
    host: &Host,
    run: &Bound<'_, Run>,
) -> PyResult<()> {
    report_faults(tally, is_strict, host)
        .map_err(|error| with_run(py, exception(py, error), run.as_any()))
}

/// Calls the Python function `objective` for each task and each node count of its curve, and stores the values in the
/// task.
fn evaluate(
    py: Python<'_>,
    tasks: &mut [TrainingTask],
    objective: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let mut raised = None;
    // In all calls for a task, the function receives the same task object.
    let mut told: Option<(String, Py<Task>)> = None;
    let mut call = |task: &TrainingTask, nodes: u32| {
        if told.as_ref().is_none_or(|(name, _)| *name != task.name) {
            told = Some((task.name.clone(), Py::new(py, Task::from(task.clone()))?));
        }
        let object = told.as_ref().map(|(_, object)| object);
        objective.call1((object, nodes))?.extract()
    };
    let set = set_objectives(tasks, &mut |task, nodes| {
        call(task, nodes).map_err(|error: PyErr| {
            raised = Some(error);
            Error::Interrupted
        })
    });
    set.map_err(|error| raised.unwrap_or_else(|| exception(py, error)))
}

/// A solver that is a Python function. If the function raises an exception, the run stops.
pub fn in_python(py: Python<'_>, solver: &Function, big_m: BigM, host: &Arc<Host>) -> OwnSolver {
    let (name, version) = (solver.title(), solver.sha256.clone().unwrap_or_default());
    let (solver, host) = (solver.value.clone_ref(py), Arc::clone(host));
    let ask = move |problem: &gleaner_solvers::Problem, _: &gleaner_solvers::Limits| {
        if host.is_stopped() {
            return None;
        }
        let planned = Python::attach(|py| {
            let told = Problem::from(problem.clone());
            plan(problem, solver.bind(py).call1((told,))?.as_any())
        });
        planned.unwrap_or_else(|error| {
            host.fail(error);
            None
        })
    };
    let solver = FunctionSolver::new(name, version, big_m, ask);
    let tally = solver.tally();
    (Box::new(solver), tally)
}

/// The results of a replay. The fragments of the log are computed on demand.
struct HeldReplay {
    replayed: Replayed,
    fragments: OnceLock<Vec<FragmentRow>>,
}

impl Held for HeldReplay {
    fn is_complete(&self) -> bool {
        self.replayed.outcome.summary.complete
    }

    fn summary(&self) -> Result<Value> {
        let summary = serde_json::to_value(&self.replayed.outcome.summary);
        summary.map_err(|e| Error::Run(e.to_string()))
    }

    fn tables(&self) -> Vec<ResultTable<'_>> {
        let Replayed {
            inputs, outcome, ..
        } = &self.replayed;
        let fragments = self
            .fragments
            .get_or_init(|| tables::fragments(&inputs.log));
        tables::tables(outcome, &inputs.log, fragments)
    }

    fn write(&mut self, directory: RunDir, _: &Host) -> Result<String> {
        self.replayed.write_to(directory)
    }

    fn skipped(&self) -> &[Fault] {
        &self.replayed.inputs.skipped.0
    }

    fn tallies(&self) -> Vec<TallyHandle> {
        self.replayed.tally.clone().into_iter().collect()
    }
}
