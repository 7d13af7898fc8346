//! Elastic training tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gleaner_classes::Counts;
use gleaner_domain::{Local, ScalingCurve, Terms, TrainingTask};
use gleaner_inputs::tasks::{ByClass, COUNTS, GivenCurve, GivenTask};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyMapping};

use crate::errors::exception;

/// An elastic training task: the numbers of nodes that it can use, its speed on them, and the costs of rescaling.
///
/// `curve` maps numbers of nodes to work per second. The curve starts with 0 at 0 nodes, and values between its points
/// are interpolated linearly. `work` is the total work. Without it, the task is endless. Times are strings such as
/// `"2026-01-31 08:00:00"`, or `datetime`s without a time zone, on the clock of the log. An invalid task raises a
/// `DataError`.
///
/// On nodes of several classes, `curve`, `objective`, `min_nodes` and `max_nodes` may be dictionaries by class. `speed`
/// maps each class to the factor by which a plain `curve` is multiplied. `move` is the cost of moving to another class,
/// in seconds of progress. With `counts="points"`, only the numbers of nodes at the points of the curve are allowed.
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
    #[pyo3(signature = (name, curve, *, min_nodes = None, max_nodes = None, rescale_up = 0.0, rescale_down = 0.0,
                        work = None, objective = None, priority = 1.0, submit = None, deadline = None,
                        speed = None, r#move = None, counts = None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        name: String,
        curve: &Bound<'_, PyMapping>,
        min_nodes: Option<Limit>,
        max_nodes: Option<Limit>,
        rescale_up: f64,
        rescale_down: f64,
        work: Option<f64>,
        objective: Option<&Bound<'_, PyMapping>>,
        priority: f64,
        submit: Option<&Bound<'_, PyAny>>,
        deadline: Option<&Bound<'_, PyAny>>,
        speed: Option<BTreeMap<String, f64>>,
        r#move: Option<f64>,
        counts: Option<String>,
    ) -> PyResult<Self> {
        let py = curve.py();
        let curve = curves(curve, objective)?;
        let given = GivenTask {
            name,
            submit: submit.map(time).transpose()?,
            deadline: deadline.map(time).transpose()?,
            min_nodes: min_nodes.map_or(ByClass::Same(1.0), ByClass::from),
            max_nodes: max_nodes.map_or_else(|| last_points(&curve), ByClass::from),
            rescale_up,
            rescale_down,
            work: work.unwrap_or(f64::INFINITY),
            priority,
            curve,
            speed: speed.unwrap_or_default(),
            move_cost: r#move,
            counts: self::counts(counts.as_deref())?,
        };
        given
            .check()
            .map(Task)
            .map_err(|error| exception(py, error))
    }

    /// The constructor arguments that recreate the task, for copies and pickles.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<NewArguments<'py>> {
        let TrainingTask {
            name,
            rescale_up,
            rescale_down,
            work,
            priority,
            classes,
            ..
        } = &self.0;
        let named = PyDict::new(py);
        named.set_item("rescale_up", rescale_up)?;
        named.set_item("rescale_down", rescale_down)?;
        named.set_item("work", work)?;
        named.set_item("priority", priority)?;
        named.set_item("submit", self.submit())?;
        named.set_item("deadline", self.deadline())?;
        named.set_item("move", classes.move_cost)?;
        named.set_item("counts", self.counts())?;
        let curve = if classes.by_name.is_empty() {
            self.set_plain(&named)?;
            self.curve(py)?
        } else {
            self.set_by_class(&named)?;
            self.curves(py)?
        };
        Ok(((name.clone(), curve), named))
    }

    /// Reads the tasks in a file.
    #[staticmethod]
    #[pyo3(signature = (path, curves = None))]
    fn read(py: Python<'_>, path: PathBuf, curves: Option<PathBuf>) -> PyResult<Vec<Task>> {
        let read = py.detach(|| gleaner_inputs::tasks::read(&path, curves.as_deref(), false));
        let set = read.map_err(|error| exception(py, error))?.value;
        Ok(set.tasks.into_iter().map(Task).collect())
    }

    /// Name of the task.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Minimum number of nodes, in the slowest class if the task has a curve for each class.
    #[getter]
    fn min_nodes(&self) -> u32 {
        self.0.min_nodes
    }

    /// Maximum number of nodes, in the slowest class if the task has a curve for each class.
    #[getter]
    fn max_nodes(&self) -> u32 {
        self.0.max_nodes
    }

    /// Seconds of progress lost when the task grows, or starts at the first event of a log. Later starts are free.
    #[getter]
    fn rescale_up(&self) -> f64 {
        self.0.rescale_up
    }

    /// Seconds of progress lost when the task shrinks, stops or is preempted, including the time to start again.
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

    /// Earliest time at which the task can run; `None` for the start of the log.
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

    /// Work per second for each number of nodes, in the slowest class if the task has a curve for each class.
    #[getter]
    fn curve<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        rates(&self.0.curve, &self.0.curve.progress, py)
    }

    /// The curve in each class; empty if one curve applies to all classes.
    #[getter]
    fn curves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.each_class(py, |terms| rates(&terms.curve, &terms.curve.progress, py))
    }

    /// Minimum and maximum number of nodes in each class; empty if one curve applies to all classes.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.each_class(py, |terms| Ok((terms.min_nodes, terms.max_nodes)))
    }

    /// Seconds of progress lost when the task moves to another class.
    #[getter]
    fn r#move(&self) -> f64 {
        self.0.move_seconds()
    }

    /// The numbers of nodes that the task can hold: `all` between its bounds, or only the `points` of its curve.
    #[getter]
    fn counts(&self) -> Option<&'static str> {
        let known = |(_, counts): &&(_, _)| *counts == self.0.classes.counts;
        COUNTS.iter().find(known).map(|(word, _)| *word)
    }

    /// Work per second on a number of nodes of the given class, by default the slowest class. 0 for a class that the
    /// task does not use.
    #[pyo3(signature = (nodes, node_class = None))]
    fn rate(&self, nodes: u32, node_class: Option<&str>) -> f64 {
        let by_name = &self.0.classes.by_name;
        match node_class {
            Some(class) if !by_name.is_empty() => by_name
                .get(class)
                .map_or(0.0, |terms| terms.curve.progress_at(nodes)),
            _ => self.0.curve.progress_at(nodes),
        }
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

impl Task {
    /// The task in the form that the engines use.
    pub fn training(&self) -> &TrainingTask {
        &self.0
    }

    /// A dictionary with a value for each class.
    fn each_class<'py, T: IntoPyObject<'py>>(
        &self,
        py: Python<'py>,
        value: impl Fn(&Terms) -> PyResult<T>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (class, terms) in self.0.classes.by_name.iter() {
            dict.set_item(class, value(terms)?)?;
        }
        Ok(dict)
    }

    /// Stores the bounds and the objective of a task with one curve, as arguments of the constructor.
    fn set_plain(&self, named: &Bound<'_, PyDict>) -> PyResult<()> {
        let curve = &self.0.curve;
        named.set_item("min_nodes", self.0.min_nodes)?;
        named.set_item("max_nodes", self.0.max_nodes)?;
        if curve.objective != curve.progress {
            named.set_item("objective", rates(curve, &curve.objective, named.py())?)?;
        }
        Ok(())
    }

    /// Stores the bounds and the objectives of a task with a curve for each class, as arguments of the constructor.
    fn set_by_class(&self, named: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = named.py();
        named.set_item(
            "min_nodes",
            self.each_class(py, |terms| Ok(terms.min_nodes))?,
        )?;
        named.set_item(
            "max_nodes",
            self.each_class(py, |terms| Ok(terms.max_nodes))?,
        )?;
        let objective = |terms: &Terms| rates(&terms.curve, &terms.curve.objective, py);
        named.set_item("objective", self.each_class(py, objective)?)
    }
}

/// A dictionary with the rate at each of the curve's numbers of nodes.
fn rates<'py>(
    curve: &ScalingCurve,
    rates: &[f64],
    py: Python<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    curve.nodes.iter().zip(rates).into_py_dict(py)
}

/// A limit on the number of nodes: one number, or a number for each class.
#[derive(FromPyObject)]
enum Limit {
    Same(f64),
    Each(BTreeMap<String, f64>),
}

impl From<Limit> for ByClass<f64> {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Same(value) => ByClass::Same(value),
            Limit::Each(values) => ByClass::Each(values),
        }
    }
}

/// The number of nodes at the last point of the curve, or of each class's curve.
fn last_points(curve: &ByClass<GivenCurve>) -> ByClass<f64> {
    let last = |curve: &GivenCurve| curve.nodes.last().copied().unwrap_or_default();
    match curve {
        ByClass::Same(curve) => ByClass::Same(last(curve)),
        ByClass::Each(curves) => {
            let curves = curves.iter();
            ByClass::Each(
                curves
                    .map(|(class, curve)| (class.clone(), last(curve)))
                    .collect(),
            )
        }
    }
}

/// Parses the argument `counts`, which selects the numbers of nodes that the task can hold.
fn counts(word: Option<&str>) -> PyResult<Counts> {
    let Some(word) = word else {
        return Ok(Counts::default());
    };
    let known = COUNTS.iter().find(|(known, _)| *known == word);
    known.map(|(_, counts)| *counts).ok_or_else(|| {
        PyValueError::new_err(format!(
            "counts: found {word:?}, expected \"all\" or \"points\""
        ))
    })
}

/// Reads one curve, or a curve for each class.
fn curves(
    curve: &Bound<'_, PyMapping>,
    objective: Option<&Bound<'_, PyMapping>>,
) -> PyResult<ByClass<GivenCurve>> {
    let Some(tables) = by_class(curve)? else {
        return one_curve(curve, objective).map(ByClass::Same);
    };
    let mut objectives = match objective {
        None => BTreeMap::new(),
        Some(objective) => by_class(objective)?.ok_or_else(|| {
            PyValueError::new_err("objective: expected a dictionary for each class, as in curve")
        })?,
    };
    let mut curves = BTreeMap::new();
    for (class, table) in tables {
        let objective = objectives.remove(&class);
        curves.insert(class, one_curve(&table, objective.as_ref())?);
    }
    match objectives.keys().next() {
        None => Ok(ByClass::Each(curves)),
        Some(class) => {
            let text = format!("objective: found class {class:?}, expected a class of the curve");
            Err(PyValueError::new_err(text))
        }
    }
}

/// The dictionary of each class; `None` if `mapping` is empty or its values are not dictionaries.
fn by_class<'py>(
    mapping: &Bound<'py, PyMapping>,
) -> PyResult<Option<BTreeMap<String, Bound<'py, PyMapping>>>> {
    let mut tables = BTreeMap::new();
    for pair in mapping.items()?.iter() {
        let Ok((class, table)) = pair.extract::<(String, Bound<'py, PyMapping>)>() else {
            return Ok(None);
        };
        tables.insert(class, table);
    }
    Ok((!tables.is_empty()).then_some(tables))
}

/// Reads a curve and its objective, which must have the same points.
fn one_curve(
    curve: &Bound<'_, PyMapping>,
    objective: Option<&Bound<'_, PyMapping>>,
) -> PyResult<GivenCurve> {
    let points = points(curve)?;
    let nodes: Vec<f64> = points.iter().map(|(nodes, _)| *nodes).collect();
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
    Ok(GivenCurve {
        nodes: nodes.into(),
        progress: points.iter().map(|(_, rate)| *rate).collect(),
        objective,
    })
}

/// Reads the points of a curve, and adds a point at 0 nodes if it is missing.
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
