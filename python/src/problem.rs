//! Allocation problems and answers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use gleaner::cli::solve;
use gleaner_external::FunctionPlan;
use gleaner_formats::ingest;
use gleaner_formats::output::answers::{self, Answer as Answered};
use gleaner_solvers::Status;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::host::Host;
use crate::options::parse;

/// Name of a group, names of its tasks, and the fewest and the most nodes that they hold together.
type Group = (String, Vec<String>, Option<u32>, Option<u32>);

/// One decision: idle nodes, the tasks that could use them, and the time over which a change must pay.
///
/// >>> problem = Problem.from_json('''{"nodes": 4, "t_fwd": 10, "tasks": [{
/// ...     "name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
/// ...     "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}]}''')
/// >>> problem.nodes, problem.tasks[0].current
/// (4, 1)
/// >>> problem.objective([4])
/// 390.0
#[pyclass(frozen, module = "gleaner")]
pub struct Problem(pub Arc<gleaner_solvers::Problem>);

#[pymethods]
impl Problem {
    /// Reads the problems of a file: a JSON object, or JSON lines.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Problem>> {
        let read = py.detach(|| ingest::problems::read(&path));
        let problems = read.map_err(|error| exception(py, error))?.value;
        Ok(problems.into_iter().map(Problem::from).collect())
    }

    /// The problem of a JSON object, as `gleaner solve` takes it.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Problem> {
        let read = ingest::problems::read_text(text, "the problem");
        let mut problems = read.map_err(|error| exception(py, error))?;
        match (problems.pop(), problems.is_empty()) {
            (Some(problem), true) => Ok(Problem::from(problem)),
            _ => Err(PyValueError::new_err(
                "several problems in one text, expected one",
            )),
        }
    }

    /// The problem as a JSON object.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&*self.0).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// Its name; empty in replays.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// Number of nodes to allocate.
    #[getter]
    fn nodes(&self) -> u32 {
        self.0.nodes
    }

    /// Seconds over which a change must pay.
    #[getter]
    fn t_fwd(&self) -> f64 {
        self.0.t_fwd
    }

    /// Its tasks.
    #[getter]
    fn tasks(&self) -> Vec<ProblemTask> {
        let tasks = 0..self.0.tasks.len();
        tasks
            .map(|task| ProblemTask {
                problem: Arc::clone(&self.0),
                task,
            })
            .collect()
    }

    /// Bounds on the nodes that several tasks hold together: name, names of the tasks, fewest and most.
    #[getter]
    fn groups(&self) -> Vec<Group> {
        let groups = self.0.groups.iter();
        groups
            .map(|group| {
                let (name, tasks) = (group.name.clone(), group.tasks.clone());
                (name, tasks, group.min_total, group.max_total)
            })
            .collect()
    }

    /// What a plan earns over the window, less what its changes cost.
    fn objective(&self, counts: Vec<u32>) -> PyResult<f64> {
        let (found, tasks) = (counts.len(), self.0.tasks.len());
        if found != tasks {
            let text = format!("{found} counts for {tasks} tasks");
            return Err(PyValueError::new_err(text));
        }
        Ok(self.0.objective(&counts))
    }

    fn __repr__(&self) -> String {
        let (tasks, nodes) = (self.0.tasks.len(), self.0.nodes);
        format!(
            "<gleaner.Problem {:?}: {tasks} tasks, {nodes} nodes>",
            self.0.id
        )
    }
}

impl From<gleaner_solvers::Problem> for Problem {
    fn from(problem: gleaner_solvers::Problem) -> Self {
        Problem(Arc::new(problem))
    }
}

/// A task of a problem.
#[pyclass(frozen, module = "gleaner")]
pub struct ProblemTask {
    problem: Arc<gleaner_solvers::Problem>,
    task: usize,
}

impl ProblemTask {
    fn task(&self) -> &gleaner_solvers::Task {
        &self.problem.tasks[self.task]
    }
}

#[pymethods]
impl ProblemTask {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.task().name
    }

    /// Fewest nodes on which it runs.
    #[getter]
    fn min_nodes(&self) -> u32 {
        self.task().min_nodes
    }

    /// Most nodes that it can use.
    #[getter]
    fn max_nodes(&self) -> u32 {
        self.task().max_nodes
    }

    /// Seconds of progress lost when it grows.
    #[getter]
    fn rescale_up(&self) -> f64 {
        self.task().rescale_up
    }

    /// Seconds of progress lost when it shrinks.
    #[getter]
    fn rescale_down(&self) -> f64 {
        self.task().rescale_down
    }

    /// Node counts of the points of its curve; the first is 0.
    #[getter]
    fn curve_nodes(&self) -> Vec<u32> {
        self.task().curve_nodes.to_vec()
    }

    /// Objective per second at each point, before `weight`; linear in between.
    #[getter]
    fn curve_objective(&self) -> Vec<f64> {
        self.task().curve_objective.to_vec()
    }

    /// Factor on its objective.
    #[getter]
    fn weight(&self) -> f64 {
        self.task().weight
    }

    /// Nodes that it holds now.
    #[getter]
    fn current(&self) -> u32 {
        self.task().current
    }

    fn __repr__(&self) -> String {
        format!("<gleaner.ProblemTask {:?}>", self.task().name)
    }
}

/// What a solver said to a problem.
#[pyclass(frozen, module = "gleaner")]
pub struct Answer(Answered);

#[pymethods]
impl Answer {
    /// Id of the problem.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// Name of the solver.
    #[getter]
    fn solver(&self) -> &str {
        &self.0.solver
    }

    /// `optimal`, `feasible`, `infeasible` or `unknown`.
    #[getter]
    fn status(&self) -> PyResult<String> {
        match serde_json::to_value(self.0.allocation.status) {
            Ok(serde_json::Value::String(name)) => Ok(name),
            other => Err(PyValueError::new_err(format!("{other:?}"))),
        }
    }

    /// Next node count of each task; `None` without a plan.
    #[getter]
    fn counts(&self) -> Option<Vec<u32>> {
        self.0.allocation.counts.clone()
    }

    /// What the plan earns over the window, less what its changes cost; `None` without a plan.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.0.allocation.objective.map(|objective| objective + 0.0)
    }

    /// No plan earns more; `None` if the solver gives no bound.
    #[getter]
    fn bound(&self) -> Option<f64> {
        self.0.allocation.bound
    }

    /// Relative distance of the objective to the bound.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.0.allocation.gap()
    }

    /// Wall time of the solver, in microseconds.
    #[getter]
    fn microseconds(&self) -> u64 {
        self.0.microseconds
    }

    /// The answer as `gleaner solve` prints it.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let line = answers::line(&self.0).map_err(|error| exception(py, error))?;
        Ok(line.trim_end().to_owned())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<gleaner.Answer {}>", self.to_json(py)?))
    }
}

/// The options of `solve`, parsed.
#[pyclass(frozen, module = "gleaner")]
pub struct SolveOptions(solve::Args);

#[pymethods]
impl SolveOptions {
    #[new]
    fn new(py: Python<'_>, words: Vec<OsString>) -> PyResult<Self> {
        parse(py, &words).map(SolveOptions)
    }

    /// Solves problems: their answers, and remarks.
    fn solve(
        &self,
        py: Python<'_>,
        problems: Vec<Bound<'_, Problem>>,
    ) -> PyResult<(Vec<Answer>, Vec<String>)> {
        let problems = problems.iter();
        let problems: Vec<_> = problems.map(|p| Arc::clone(&p.get().0)).collect();
        let host = Host::default();
        // The exact solver is done before a thread would have begun.
        let answers = host.here(py, || solve::answers(&self.0, &problems, &host))?;
        let answers = answers.into_iter().map(Answer).collect();
        Ok((answers, host.remarks()))
    }
}

/// The plan that a solver in Python returned: an `Answer`, counts in the order of the tasks, or a mapping from
/// names of tasks to counts, where a task that is not named gets no node. `None` is no plan.
///
/// # Errors
/// `TypeError`, `ValueError`: it is something else.
pub fn plan(
    problem: &gleaner_solvers::Problem,
    returned: &Bound<'_, PyAny>,
) -> PyResult<Option<FunctionPlan>> {
    if returned.is_none() {
        return Ok(None);
    }
    if let Ok(answer) = returned.cast::<Answer>() {
        let allocation = &answer.get().0.allocation;
        let is_called_optimal = allocation.status == Status::Optimal;
        return Ok(allocation.counts.clone().map(|counts| FunctionPlan {
            counts,
            is_called_optimal,
        }));
    }
    let counts = match returned.cast::<pyo3::types::PyMapping>() {
        Ok(mapping) => by_name(problem, mapping)?,
        Err(_) => returned.extract::<Vec<u32>>().map_err(|_| {
            let kind = returned.get_type();
            PyTypeError::new_err(format!(
                "the solver returned {kind}: expected a list of node counts from 0, a dict of them by \
                 task, an Answer, or None for no plan"
            ))
        })?,
    };
    Ok(Some(FunctionPlan {
        counts,
        is_called_optimal: false,
    }))
}

fn by_name(
    problem: &gleaner_solvers::Problem,
    mapping: &Bound<'_, pyo3::types::PyMapping>,
) -> PyResult<Vec<u32>> {
    let mut counts = vec![0; problem.tasks.len()];
    for pair in mapping.items()?.iter() {
        let (name, count): (String, u32) = pair.extract()?;
        let task = problem.tasks.iter().position(|task| task.name == name);
        let unknown = || PyValueError::new_err(format!("the solver's plan names no task {name:?}"));
        counts[task.ok_or_else(unknown)?] = count;
    }
    Ok(counts)
}
