//! Searches in Python: objects of `gleaner.search`.

use std::sync::Arc;

use gleaner_domain::{Observer, TrainingTask};
use gleaner_replay::allocator::{NewTrial, Searcher};
use gleaner_search::{Algorithm, Job, Next, Plan, Search, Verdict, task_of_trial};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::host::Host;
use crate::task::Task;

/// The next training of a trial: the number of the trial, the rung, and the resource before and after.
type Training = (u32, u32, f64, f64);

/// A search that is an object of the class `gleaner.search.Loop`. If a call raises an exception, the replay stops.
pub struct PythonSearch {
    loop_: Py<PyAny>,
    name: String,
    max_resource: f64,
    /// Names of the replay's tasks.
    tasks: Vec<String>,
    /// Seed with which a task is drawn for each trial.
    seed: u64,
    host: Arc<Host>,
    /// The next training of the trial whose loss was just reported.
    resumed: Option<Job>,
}

impl PythonSearch {
    /// Wraps the object `loop_`. `tasks` are the tasks of the replay.
    ///
    /// # Errors
    /// The object lacks an attribute, or an attribute has the wrong type.
    pub fn new(
        py: Python<'_>,
        loop_: Py<PyAny>,
        (tasks, seed): (&[TrainingTask], u64),
        host: &Arc<Host>,
    ) -> PyResult<Self> {
        Ok(PythonSearch {
            name: loop_.getattr(py, "name")?.extract(py)?,
            max_resource: loop_.getattr(py, "max_resource")?.extract(py)?,
            loop_,
            tasks: tasks.iter().map(|task| task.name.clone()).collect(),
            seed,
            host: Arc::clone(host),
            resumed: None,
        })
    }

    /// Calls a method. If it raises an exception, stops the replay and returns `None`.
    fn call<T>(&self, of: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        if self.host.is_stopped() {
            return None;
        }
        let called = Python::attach(|py| of(self.loop_.bind(py)));
        called.map_err(|error| self.host.fail(error)).ok()
    }

    /// The task that a trial trains: an index into the replay's tasks, and the trial's own task, if it has one.
    fn task(&self, trial: u32, of: &Bound<'_, PyAny>) -> PyResult<(u32, Option<TrainingTask>)> {
        let drawn = || task_of_trial(self.seed, trial, self.tasks.len()) as u32;
        if of.is_none() {
            return Ok((drawn(), None));
        }
        if let Ok(task) = of.cast::<Task>() {
            let task = task.get().training();
            if task.is_endless() {
                let text = format!(
                    "search: the task of trial {trial} is endless, expected a finite amount of work"
                );
                return Err(PyValueError::new_err(text));
            }
            return Ok((drawn(), Some(task.clone())));
        }
        let place = match of.extract::<String>() {
            Ok(name) => self.tasks.iter().position(|task| *task == name),
            Err(_) => {
                let index = of.extract::<usize>().ok();
                index.filter(|&index| index < self.tasks.len())
            }
        };
        let place = place.ok_or_else(|| {
            let text = format!(
                "search: the task of trial {trial} is {of}, expected a Task, or the name or index of one of {}",
                self.tasks.join(", ")
            );
            PyValueError::new_err(text)
        })?;
        Ok((place as u32, None))
    }
}

fn job((trial, rung, from, to): Training) -> Job {
    Job {
        trial,
        rung,
        bracket: 0,
        from,
        to,
    }
}

impl Searcher for PythonSearch {
    fn name(&self) -> String {
        format!("python:{}", self.name)
    }

    fn max_resource(&self) -> f64 {
        self.max_resource
    }

    fn next(&mut self) -> Option<Job> {
        let next = self.call(|of| of.call_method0("next")?.extract::<Option<Training>>());
        next.flatten().map(job)
    }

    fn describe(&mut self, trial: u32, _: usize) -> NewTrial {
        let described = self.call(|of| {
            let described = of.call_method1("describe", (trial,))?;
            let (task, parameters) = described.extract::<(Bound<'_, PyAny>, String)>()?;
            let (origin, task) = self.task(trial, &task)?;
            Ok((origin, task, parameters))
        });
        let (origin, task, parameters) = described.unwrap_or_default();
        NewTrial {
            origin,
            task,
            parameters,
            parent: None,
            final_loss: f64::NAN,
        }
    }

    fn loss_names(&self) -> Vec<String> {
        let names = self.call(|of| of.getattr("loss_names")?.extract());
        names.unwrap_or_default()
    }

    fn losses(&mut self, job: &Job) -> Option<Vec<f64>> {
        self.call(|of| of.call_method1("losses", (job.trial, job.to))?.extract())
    }

    fn report(&mut self, job: &Job, _: &[f64]) -> Option<Vec<Verdict>> {
        let trial = job.trial;
        let reported = self.call(|of| {
            of.call_method1("report", (trial,))?
                .extract::<(bool, Option<Training>, Vec<u32>)>()
        });
        let (is_finished, next, stopped) = reported?;
        self.resumed = next.map(self::job);
        let finished = is_finished.then_some(Verdict::Finished { trial });
        let stopped = stopped.into_iter().map(|trial| Verdict::Stopped { trial });
        Some(finished.into_iter().chain(stopped).collect())
    }

    fn resume(&mut self, _: u32) -> Option<Job> {
        self.resumed.take()
    }

    fn unpromoted(&self) -> Vec<u32> {
        let ended = self.call(|of| of.call_method0("end")?.extract());
        ended.unwrap_or_default()
    }
}

/// A built-in search algorithm, for `gleaner.search.BuiltIn`.
#[pyclass(module = "gleaner")]
pub struct Schedule {
    search: Search,
}

#[pymethods]
impl Schedule {
    #[new]
    fn new(
        algorithm: &str,
        trials: Option<u32>,
        eta: u32,
        min_resource: f64,
        max_resource: f64,
    ) -> PyResult<Self> {
        let algorithm: Algorithm = algorithm.parse().map_err(invalid)?;
        let plan = Plan {
            algorithm,
            trials,
            eta,
            min_resource,
            max_resource,
        };
        let search = Search::new(plan).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            invalid(faults.join("; "))
        })?;
        Ok(Schedule { search })
    }

    /// The next job: a trial, and the resource up to which it trains. None if no job is available until another loss
    /// is reported.
    fn next(&mut self) -> Option<(u32, f64)> {
        match self.search.next() {
            Next::Job(job) => Some((job.trial, job.to)),
            Next::Wait | Next::Done => None,
        }
    }

    /// Records the losses of a trial. Returns the resource up to which the trial continues immediately (None if it does
    /// not), and the trials that are now stopped.
    fn report(&mut self, trial: u32, losses: Vec<f64>) -> PyResult<(Option<f64>, Vec<u32>)> {
        let verdicts = self.search.report_all(trial, &losses).map_err(invalid)?;
        let stopped = verdicts.into_iter().filter_map(|verdict| match verdict {
            Verdict::Stopped { trial } => Some(trial),
            Verdict::Promoted { .. } | Verdict::Finished { .. } => None,
        });
        let next = self.search.resume(trial);
        Ok((next.map(|job| job.to), stopped.collect()))
    }
}

fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
