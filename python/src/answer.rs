//! Answers of built-in solvers and of solvers in Python.

use gleaner::solving::{self, SolvingSettings};
use gleaner_classes::AnyAnswer;
use gleaner_exec_solver::FunctionPlan;
use gleaner_inputs::write::answers;
use gleaner_inputs::write::answers::{Answer as Answered, Counts};
use gleaner_solvers::Status;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::errors::exception;
use crate::host::{Host, Remark};
use crate::options::{Pairs, read};
use crate::problem::EitherProblem;

/// A solver's answer to a problem.
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
        match serde_json::to_value(self.0.solution.status()) {
            Ok(serde_json::Value::String(name)) => Ok(name),
            other => Err(PyValueError::new_err(format!("{other:?}"))),
        }
    }

    /// Node count of each task in the plan; `None` without a plan, or if the problem has node classes.
    #[getter]
    fn counts(&self) -> Option<Vec<u32>> {
        match &self.0.solution {
            AnyAnswer::OneClass(allocation) => allocation.counts.clone(),
            AnyAnswer::Classes(_) => None,
        }
    }

    /// Class and number of the nodes that each task holds in the plan; `None` for a task without nodes. Without a plan,
    /// or if the problem has no node classes, the list itself is `None`.
    #[getter]
    fn held(&self) -> Option<Vec<Option<(&str, u32)>>> {
        match self.0.counts() {
            Some(Counts::Classes(tasks)) => {
                let held = tasks.into_iter();
                Some(
                    held.map(|held| held.map(|held| (held.class, held.nodes)))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Price of a node, by class: approximately the amount that an additional node would add to the objective. `None`
    /// if the problem has no classes, or the solver computes no prices.
    #[getter]
    fn prices<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = self.0.prices() else {
            return Ok(None);
        };
        let prices = PyDict::new(py);
        for (class, price) in found.0 {
            prices.set_item(class, price)?;
        }
        Ok(Some(prices))
    }

    /// The gain of the plan over the window, minus the cost of its changes; `None` without a plan.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.0.solution.objective()
    }

    /// Upper bound on the objective of any plan; `None` if the solver does not report a bound.
    #[getter]
    fn bound(&self) -> Option<f64> {
        self.0.solution.bound()
    }

    /// Relative gap between the objective and the bound; `None` if it is unknown.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.0.solution.gap()
    }

    /// Wall time of the solver, in microseconds.
    #[getter]
    fn microseconds(&self) -> u64 {
        self.0.microseconds
    }

    /// The answer in the format of `gleaner solve`.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        let line = answers::line(&self.0).map_err(|error| exception(py, error))?;
        Ok(line.trim_end().to_owned())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<gleaner.Answer {}>", self.to_json(py)?))
    }
}

/// The parsed options of `gleaner.solve`.
#[pyclass(frozen, module = "gleaner")]
pub struct SolveOptions(SolvingSettings);

#[pymethods]
impl SolveOptions {
    #[new]
    fn new(py: Python<'_>, options: Pairs) -> PyResult<Self> {
        read(py, &options).map(SolveOptions)
    }

    /// Solves problems. Returns the answers and the remarks.
    fn solve(
        &self,
        py: Python<'_>,
        problems: Vec<EitherProblem<'_>>,
    ) -> PyResult<(Vec<Answer>, Vec<Remark>)> {
        let problems: Vec<_> = problems.iter().map(EitherProblem::problem).collect();
        let host = Host::default();
        let solve = || solving::answers(&self.0, &problems, &host);
        // Built-in solvers usually finish before a thread would have started, so they run on this thread. A program can
        // take a long time, so a new thread waits for it while this thread handles Ctrl-C.
        let answers = if self.0.starts_a_program() {
            host.on_a_thread(py, solve)?
        } else {
            host.here(py, solve)?
        };
        let answers = answers.into_iter().map(Answer).collect();
        Ok((answers, host.remarks()))
    }
}

/// Reads the plan that a solver in Python returned. A plan is an `Answer`, a list of counts in the order of the tasks,
/// or a mapping from names of tasks to counts. Tasks that are missing from a mapping get no nodes. A solver without a
/// plan returns `None`.
///
/// # Errors
/// `TypeError` if the value is not a plan; `ValueError` if it names a task that the problem does not have.
pub fn plan(
    problem: &gleaner_solvers::Problem,
    returned: &Bound<'_, PyAny>,
) -> PyResult<Option<FunctionPlan>> {
    if returned.is_none() {
        return Ok(None);
    }
    if let Ok(answer) = returned.cast::<Answer>() {
        let AnyAnswer::OneClass(allocation) = &answer.get().0.solution else {
            return Err(PyTypeError::new_err(
                "the solver returned an answer to a problem with node classes, but this problem has none: return an \
                 answer to the problem passed to the function",
            ));
        };
        let is_called_optimal = allocation.status == Status::Optimal;
        return Ok(allocation.counts.clone().map(|counts| FunctionPlan {
            counts,
            is_called_optimal,
        }));
    }
    let counts = match returned.cast::<PyMapping>() {
        Ok(mapping) => by_name(problem, mapping)?,
        Err(_) => returned.extract::<Vec<u32>>().map_err(|_| {
            let kind = returned.get_type();
            PyTypeError::new_err(format!(
                "the solver returned {kind}: expected a list of node counts of at least 0, a dict \
                 of node counts by task, an Answer, or None for no plan"
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
    mapping: &Bound<'_, PyMapping>,
) -> PyResult<Vec<u32>> {
    let mut counts = vec![0; problem.tasks.len()];
    for pair in mapping.items()?.iter() {
        let (name, count): (String, u32) = pair.extract()?;
        let task = problem.tasks.iter().position(|task| task.name == name);
        let unknown =
            || PyValueError::new_err(format!("the solver's plan names the unknown task {name:?}"));
        counts[task.ok_or_else(unknown)?] = count;
    }
    Ok(counts)
}
