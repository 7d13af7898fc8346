//! Elastic training tasks.

use std::path::PathBuf;

use gleaner_domain::{Local, TrainingTask};
use gleaner_inputs::tasks::GivenTask;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyMapping};

use crate::errors::exception;

/// An elastic training task: the numbers of nodes that it can use, its speed on them, and the costs of changes.
///
/// `curve` maps numbers of nodes to work per second. The curve starts with 0 at 0 nodes, and values between its points
/// are interpolated linearly. `work` is the total work; without it, the task is endless. Times are strings such as
/// `"2026-01-31 08:00:00"`, or `datetime`s without a time zone, on the clock of the log. An invalid task raises a
/// `DataError`.
///
/// >>> task = Task("bert", {1: 10.0, 4: 36.0}, work=1e6)
/// >>> task.max_nodes, task.rate(2)
/// (4, 18.666666666666664)
#[pyclass(frozen, module = "gleaner")]
#[derive(Clone)]
pub struct Task(TrainingTask);

/// Positional and named arguments of the constructor.
type NewArguments<'py> = ((String, Bound<'py, PyDict>), Bound<'py, PyDict>);

impl From<TrainingTask> for Task {
    fn from(task: TrainingTask) -> Self {
        Task(task)
    }
}

#[pymethods]
impl Task {
    #[new]
    #[pyo3(signature = (name, curve, *, min_nodes = 1.0, max_nodes = None, rescale_up = 0.0, rescale_down = 0.0,
                        work = None, objective = None, priority = 1.0, submit = None, deadline = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        name: String,
        curve: &Bound<'_, PyMapping>,
        min_nodes: f64,
        max_nodes: Option<f64>,
        rescale_up: f64,
        rescale_down: f64,
        work: Option<f64>,
        objective: Option<&Bound<'_, PyMapping>>,
        priority: f64,
        submit: Option<&Bound<'_, PyAny>>,
        deadline: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = curve.py();
        let points = points(curve)?;
        let nodes: Vec<f64> = points.iter().map(|(nodes, _)| *nodes).collect();
        let progress: Vec<f64> = points.iter().map(|(_, rate)| *rate).collect();
        let objective = match objective {
            None => None,
            Some(values) => {
                let values = self::points(values)?;
                if !values.iter().map(|(nodes, _)| nodes).eq(&nodes) {
                    let text = "objective and curve have different numbers of nodes";
                    return Err(PyValueError::new_err(text));
                }
                Some(values.iter().map(|(_, value)| *value).collect())
            }
        };
        let most = nodes.last().copied().unwrap_or_default();
        let given = GivenTask {
            name,
            submit: submit.map(time).transpose()?,
            deadline: deadline.map(time).transpose()?,
            min_nodes,
            max_nodes: max_nodes.unwrap_or(most),
            rescale_up,
            rescale_down,
            work: work.unwrap_or(f64::INFINITY),
            priority,
            nodes: nodes.into(),
            progress: progress.into(),
            objective,
        };
        given
            .check()
            .map(Task)
            .map_err(|error| exception(py, error))
    }

    /// Copies and unpickled tasks are created by the constructor, with these arguments.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let TrainingTask {
            name,
            min_nodes,
            max_nodes,
            rescale_up,
            rescale_down,
            work,
            priority,
            curve,
            ..
        } = &self.0;
        let named = PyDict::new(py);
        named.set_item("min_nodes", min_nodes)?;
        named.set_item("max_nodes", max_nodes)?;
        named.set_item("rescale_up", rescale_up)?;
        named.set_item("rescale_down", rescale_down)?;
        named.set_item("work", work)?;
        named.set_item("priority", priority)?;
        named.set_item("submit", self.submit())?;
        named.set_item("deadline", self.deadline())?;
        if curve.objective != curve.progress {
            let values = curve.nodes.iter().zip(curve.objective.iter());
            named.set_item("objective", values.into_py_dict(py)?)?;
        }
        Ok(((name.clone(), self.curve(py)?), named))
    }

    /// Reads the tasks in a file.
    #[staticmethod]
    #[pyo3(signature = (path, curves = None))]
    fn read(py: Python<'_>, path: PathBuf, curves: Option<PathBuf>) -> PyResult<Vec<Task>> {
        let read = py.detach(|| gleaner_inputs::tasks::read(&path, curves.as_deref(), false));
        let set = read.map_err(|error| exception(py, error))?.value;
        Ok(set.tasks.into_iter().map(Task).collect())
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Minimum number of nodes.
    #[getter]
    fn min_nodes(&self) -> u32 {
        self.0.min_nodes
    }

    /// Maximum number of nodes.
    #[getter]
    fn max_nodes(&self) -> u32 {
        self.0.max_nodes
    }

    /// Seconds of progress lost when the task grows.
    #[getter]
    fn rescale_up(&self) -> f64 {
        self.0.rescale_up
    }

    /// Seconds of progress lost when the task shrinks or is preempted.
    #[getter]
    fn rescale_down(&self) -> f64 {
        self.0.rescale_down
    }

    /// Total work; infinite for an endless task.
    #[getter]
    fn work(&self) -> f64 {
        self.0.work
    }

    /// Weight under the objective `priority-weighted`.
    #[getter]
    fn priority(&self) -> f64 {
        self.0.priority
    }

    /// Earliest time at which the task may run; `None` for the start of the log.
    #[getter]
    fn submit(&self) -> Option<String> {
        let submit = self.0.submit;
        (submit != TrainingTask::FROM_START).then(|| submit.at_offset(0).to_string())
    }

    /// Time by which the task should finish.
    #[getter]
    fn deadline(&self) -> Option<String> {
        self.0.deadline.map(|time| time.at_offset(0).to_string())
    }

    /// Work per second for each number of nodes.
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

/// The points of a curve, starting at 0 nodes.
fn points(mapping: &Bound<'_, PyMapping>) -> PyResult<Vec<(f64, f64)>> {
    let mut points = Vec::new();
    for pair in mapping.items()?.iter() {
        points.push(pair.extract::<(f64, f64)>()?);
    }
    points.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    if points.first().is_none_or(|(nodes, _)| *nodes > 0.0) {
        points.insert(0, (0.0, 0.0));
    }
    Ok(points)
}

/// Reads a time from a string, or from a `datetime`, whose `isoformat` method returns such a
/// string.
fn time(value: &Bound<'_, PyAny>) -> PyResult<Local> {
    let text = match value.extract::<String>() {
        Ok(text) => text,
        Err(_) if value.hasattr("isoformat")? => value.call_method0("isoformat")?.extract()?,
        Err(_) => value.str()?.extract()?,
    };
    let wrong = |_| {
        PyValueError::new_err(format!(
            "{text:?}: expected a time such as 2026-01-31 08:00:00, without an offset from UTC"
        ))
    };
    text.replacen('T', " ", 1).parse::<Local>().map_err(wrong)
}

/// Writes tasks to a .toml or .json file that `gleaner replay` can read.
#[pyfunction]
pub fn write_tasks(py: Python<'_>, tasks: Vec<Bound<'_, Task>>, path: PathBuf) -> PyResult<()> {
    let tasks: Vec<TrainingTask> = tasks.iter().map(|task| task.get().0.clone()).collect();
    let written = py.detach(|| gleaner_inputs::write::tasks::write(&tasks, &path));
    written.map_err(|error| exception(py, error))
}
