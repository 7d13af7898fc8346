//! Elastic training tasks.

use std::path::PathBuf;

use gleaner_core::domain::{ScalingCurve, Time, TrainingTask};
use gleaner_formats::{ingest, output};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::errors::exception;

/// An elastic training task: how many nodes it can use, how fast it is on them, and what changes cost.
///
/// `curve` has the work per second by number of nodes, and is linear in between; it begins with 0 at 0 nodes.
/// `work` is the total work; without it, the task is endless. Times are texts such as
/// `"2026-01-31 08:00:00"`, on the clock of the log.
///
/// >>> task = Task("bert", {1: 10.0, 4: 36.0}, work=1e6)
/// >>> task.max_nodes, task.rate(2)
/// (4, 18.666666666666664)
#[pyclass(frozen, module = "gleaner")]
#[derive(Clone)]
pub struct Task(TrainingTask);

impl From<TrainingTask> for Task {
    fn from(task: TrainingTask) -> Self {
        Task(task)
    }
}

#[pymethods]
impl Task {
    #[new]
    #[pyo3(signature = (name, curve, *, min_nodes = 1, max_nodes = None, rescale_up = 0.0, rescale_down = 0.0,
                        work = None, objective = None, priority = 1.0, submit = None, deadline = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        name: String,
        curve: &Bound<'_, PyMapping>,
        min_nodes: u32,
        max_nodes: Option<u32>,
        rescale_up: f64,
        rescale_down: f64,
        work: Option<f64>,
        objective: Option<&Bound<'_, PyMapping>>,
        priority: f64,
        submit: Option<&str>,
        deadline: Option<&str>,
    ) -> PyResult<Self> {
        let points = points(curve)?;
        let nodes: Vec<u32> = points.iter().map(|(nodes, _)| *nodes).collect();
        let progress: Vec<f64> = points.iter().map(|(_, rate)| *rate).collect();
        let objective = match objective {
            None => progress.clone(),
            Some(values) => {
                let values = self::points(values)?;
                if !values.iter().map(|(nodes, _)| nodes).eq(&nodes) {
                    let text = "objective has other numbers of nodes than curve";
                    return Err(PyValueError::new_err(text));
                }
                values.iter().map(|(_, value)| *value).collect()
            }
        };
        let most = nodes.last().copied().unwrap_or_default();
        Ok(Task(TrainingTask {
            name,
            submit: submit.map_or(Ok(TrainingTask::FROM_START), time)?,
            min_nodes,
            max_nodes: max_nodes.unwrap_or(most),
            rescale_up,
            rescale_down,
            work: work.unwrap_or(f64::INFINITY),
            priority,
            deadline: deadline.map(time).transpose()?,
            rung: 0,
            curve: ScalingCurve {
                nodes: nodes.into(),
                progress: progress.into(),
                objective: objective.into(),
            },
        }))
    }

    /// Reads the tasks of a file.
    #[staticmethod]
    #[pyo3(signature = (path, curves = None))]
    fn read(py: Python<'_>, path: PathBuf, curves: Option<PathBuf>) -> PyResult<Vec<Task>> {
        let read = py.detach(|| ingest::tasks::read(&path, curves.as_deref(), false));
        let set = read.map_err(|error| exception(py, error))?.value;
        Ok(set.tasks.into_iter().map(Task).collect())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Fewest nodes on which it runs.
    #[getter]
    fn min_nodes(&self) -> u32 {
        self.0.min_nodes
    }

    /// Most nodes that it can use.
    #[getter]
    fn max_nodes(&self) -> u32 {
        self.0.max_nodes
    }

    /// Seconds of progress lost when it grows.
    #[getter]
    fn rescale_up(&self) -> f64 {
        self.0.rescale_up
    }

    /// Seconds of progress lost when it shrinks or is preempted.
    #[getter]
    fn rescale_down(&self) -> f64 {
        self.0.rescale_down
    }

    /// Total work; infinite for an endless task.
    #[getter]
    fn work(&self) -> f64 {
        self.0.work
    }

    /// Its weight under the objective `priority-weighted`.
    #[getter]
    fn priority(&self) -> f64 {
        self.0.priority
    }

    /// Time from which it may run; `None` if that is the log's start.
    #[getter]
    fn submit(&self) -> Option<String> {
        let submit = self.0.submit;
        (submit != TrainingTask::FROM_START).then(|| submit.to_string())
    }

    /// Time by which it should be done.
    #[getter]
    fn deadline(&self) -> Option<String> {
        self.0.deadline.map(|time| time.to_string())
    }

    /// Work per second by number of nodes.
    #[getter]
    fn curve<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let curve = &self.0.curve;
        for (nodes, rate) in curve.nodes.iter().zip(curve.progress.iter()) {
            dict.set_item(nodes, rate)?;
        }
        Ok(dict)
    }

    /// Work per second on a number of nodes.
    fn rate(&self, nodes: u32) -> f64 {
        self.0.curve.progress_at(nodes)
    }

    fn __repr__(&self) -> String {
        let TrainingTask {
            name,
            min_nodes,
            max_nodes,
            ..
        } = &self.0;
        format!("<gleaner.Task {name:?}: {min_nodes} to {max_nodes} nodes>")
    }
}

/// The points of a curve, from 0 nodes on.
fn points(mapping: &Bound<'_, PyMapping>) -> PyResult<Vec<(u32, f64)>> {
    let mut points = Vec::new();
    for pair in mapping.items()?.iter() {
        points.push(pair.extract::<(u32, f64)>()?);
    }
    points.sort_by_key(|(nodes, _)| *nodes);
    if points.first().is_none_or(|(nodes, _)| *nodes > 0) {
        points.insert(0, (0, 0.0));
    }
    Ok(points)
}

fn time(text: &str) -> PyResult<Time> {
    let wrong =
        |_| PyValueError::new_err(format!("{text:?}: expected a time as 2026-01-31 08:00:00"));
    text.parse::<Time>().map_err(wrong)
}

/// Writes tasks to a file, .toml or .json, that `gleaner replay` reads.
#[pyfunction]
pub fn write_tasks(py: Python<'_>, tasks: Vec<Bound<'_, Task>>, path: PathBuf) -> PyResult<()> {
    let tasks: Vec<TrainingTask> = tasks.iter().map(|task| task.get().0.clone()).collect();
    let written = py.detach(|| output::tasks::write(&tasks, &path));
    written.map_err(|error| exception(py, error))
}
