//! Allocation problems.

use std::path::PathBuf;
use std::sync::Arc;

use gleaner_classes::AnyProblem;
use gleaner_inputs::problems;
use gleaner_solvers::{Allocation, BigM, Status};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;

/// Name of a group, names of its tasks, and the minimum and maximum total number of nodes of these tasks.
type Group = (String, Vec<String>, Option<u32>, Option<u32>);

/// One decision: idle nodes, the tasks that could use them, and the time within which a change must pay off.
///
/// >>> problem = Problem.from_json('''{"nodes": 4, "t_fwd": 10, "tasks": [{
/// ...     "name": "a", "min_nodes": 1, "max_nodes": 4, "rescale_up": 1, "rescale_down": 1,
/// ...     "curve_nodes": [0, 4], "curve_objective": [0, 40], "current": 1}]}''')
/// >>> problem.nodes, problem.tasks[0].current
/// (4, 1)
/// >>> problem.objective([4])
/// 390.0
/// >>> problem.check([5])
/// ['...5...']
#[pyclass(frozen, module = "gleaner")]
pub struct Problem(pub Arc<gleaner_solvers::Problem>);

#[pymethods]
impl Problem {
    /// Reads the problems in a file that contains a JSON object or JSON lines.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Problem>> {
        let read = py.detach(|| problems::read_one_class(&path));
        let problems = read.map_err(|error| exception(py, error))?.value;
        Ok(problems.into_iter().map(Problem::from).collect())
    }

    /// Reads a problem from a JSON object in the format of `gleaner solve`.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Problem> {
        match single(py, text)? {
            AnyProblem::OneClass(problem) => Ok(Problem(problem)),
            AnyProblem::Classes(_) => Err(PyValueError::new_err(
                "the problem has node classes: use ClassProblem",
            )),
        }
    }

    /// The problem as a JSON object.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&*self.0).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// The id of the problem; empty in replays.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// Number of nodes to allocate.
    #[getter]
    fn nodes(&self) -> u32 {
        self.0.nodes
    }

    /// Seconds within which a change must pay off.
    #[getter]
    fn t_fwd(&self) -> f64 {
        self.0.t_fwd
    }

    /// The tasks of the problem.
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

    /// Groups of tasks with bounds on their total number of nodes: name, names of the tasks, minimum and maximum.
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

    /// The gain of a plan over the window, minus the cost of its changes. An infeasible plan raises a `ValueError`.
    fn objective(&self, counts: Vec<u32>) -> PyResult<f64> {
        let violations = self.check(counts.clone());
        if violations.is_empty() {
            return Ok(self.0.objective(&counts));
        }
        let text = format!("the plan is not feasible: {}", violations.join("; "));
        Err(PyValueError::new_err(text))
    }

    /// The reasons why a plan is infeasible: one sentence for each violated constraint of the model. The list is empty
    /// for a feasible plan.
    fn check(&self, counts: Vec<u32>) -> Vec<String> {
        let (found, tasks) = (counts.len(), self.0.tasks.len());
        if found != tasks {
            return vec![format!(
                "{found} counts, expected one for each of {tasks} tasks"
            )];
        }
        let answer = Allocation::with_plan(&self.0, Status::Feasible, counts, None);
        let violations = gleaner_solvers::check(&self.0, &answer, BigM::default());
        let violations = violations.err().unwrap_or_default();
        violations.iter().map(ToString::to_string).collect()
    }

    /// Copies and pickles store the problem as JSON.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = py.import("gleaner.pickles")?.getattr("problem")?;
        Ok((restore, (self.to_json()?,)))
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

/// One decision on nodes of several classes: the options of each task, and their values.
///
/// >>> problem = ClassProblem.from_json('''{"classes": [{"name": "v100", "capacity": 4}, {"name": "a100", "capacity": 2}],
/// ...     "tasks": [{"name": "a", "options": [[0, 4, 16], [1, 2, 20]]}]}''')
/// >>> problem.classes, problem.tasks
/// ({'v100': 4, 'a100': 2}, ['a'])
#[pyclass(frozen, module = "gleaner")]
pub struct ClassProblem(pub Arc<gleaner_classes::Problem>);

#[pymethods]
impl ClassProblem {
    /// Reads a problem from a JSON object in the format of `gleaner solve`.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<ClassProblem> {
        match single(py, text)? {
            AnyProblem::Classes(problem) => Ok(ClassProblem(problem)),
            AnyProblem::OneClass(_) => Err(PyValueError::new_err(
                "the problem has no node classes: use Problem",
            )),
        }
    }

    /// The problem as a JSON object, with a list of options for each task.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&*self.0).map_err(|e| PyValueError::new_err(e.to_string()))
    }

    /// The id of the problem.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// Number of nodes to allocate, by class.
    #[getter]
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let classes = PyDict::new(py);
        for class in &self.0.classes {
            classes.set_item(&class.name, class.capacity)?;
        }
        Ok(classes)
    }

    /// Names of the tasks.
    #[getter]
    fn tasks(&self) -> Vec<String> {
        self.0.tasks.iter().map(|task| task.name.clone()).collect()
    }

    /// Copies and pickles store the problem as JSON.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let restore = py.import("gleaner.pickles")?.getattr("class_problem")?;
        Ok((restore, (self.to_json()?,)))
    }

    fn __repr__(&self) -> String {
        let (tasks, classes) = (self.0.tasks.len(), self.0.classes.len());
        format!(
            "<gleaner.ClassProblem {:?}: {tasks} tasks, {classes} classes>",
            self.0.id
        )
    }
}

/// A problem of either kind.
#[derive(FromPyObject)]
pub enum EitherProblem<'py> {
    /// All nodes are interchangeable.
    OneClass(Bound<'py, Problem>),
    /// The nodes are of several classes.
    Classes(Bound<'py, ClassProblem>),
}

impl EitherProblem<'_> {
    /// A shared reference to the problem.
    pub fn problem(&self) -> AnyProblem {
        match self {
            EitherProblem::OneClass(problem) => AnyProblem::OneClass(Arc::clone(&problem.get().0)),
            EitherProblem::Classes(problem) => AnyProblem::Classes(Arc::clone(&problem.get().0)),
        }
    }
}

fn to_python(py: Python<'_>, problem: AnyProblem) -> PyResult<Py<PyAny>> {
    Ok(match problem {
        AnyProblem::OneClass(problem) => Py::new(py, Problem(problem))?.into_any(),
        AnyProblem::Classes(problem) => Py::new(py, ClassProblem(problem))?.into_any(),
    })
}

/// Reads problems of both kinds from a file that contains a JSON object or JSON lines.
#[pyfunction]
pub fn read_problems(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Py<PyAny>>> {
    let read = py.detach(|| problems::read(&path));
    let problems = read.map_err(|error| exception(py, error))?.value;
    let problems = problems.into_iter();
    problems.map(|problem| to_python(py, problem)).collect()
}

/// Reads a problem of either kind from a JSON object.
#[pyfunction]
pub fn read_problem(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    to_python(py, single(py, text)?)
}

/// Reads a text that contains exactly one problem.
fn single(py: Python<'_>, text: &str) -> PyResult<AnyProblem> {
    let read = problems::read_text(text, "the problem");
    let mut problems = read.map_err(|error| exception(py, error))?;
    match (problems.pop(), problems.is_empty()) {
        (Some(problem), true) => Ok(problem),
        _ => Err(PyValueError::new_err(
            "found several problems in one text, expected one",
        )),
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
    /// Name of the task.
    #[getter]
    fn name(&self) -> &str {
        &self.task().name
    }

    /// Minimum number of nodes.
    #[getter]
    fn min_nodes(&self) -> u32 {
        self.task().min_nodes
    }

    /// Maximum number of nodes.
    #[getter]
    fn max_nodes(&self) -> u32 {
        self.task().max_nodes
    }

    /// Seconds of progress lost when the task grows.
    #[getter]
    fn rescale_up(&self) -> f64 {
        self.task().rescale_up
    }

    /// Seconds of progress lost when the task shrinks.
    #[getter]
    fn rescale_down(&self) -> f64 {
        self.task().rescale_down
    }

    /// Node counts of the points of the task's curve, beginning with 0.
    #[getter]
    fn curve_nodes(&self) -> Vec<u32> {
        self.task().curve_nodes.to_vec()
    }

    /// Objective per second at each point, before `weight`. Values between points are interpolated linearly.
    #[getter]
    fn curve_objective(&self) -> Vec<f64> {
        self.task().curve_objective.to_vec()
    }

    /// Factor by which the objective is multiplied.
    #[getter]
    fn weight(&self) -> f64 {
        self.task().weight
    }

    /// Current number of nodes.
    #[getter]
    fn current(&self) -> u32 {
        self.task().current
    }

    fn __repr__(&self) -> String {
        format!("<gleaner.ProblemTask {:?}>", self.task().name)
    }
}
