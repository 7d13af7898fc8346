//! The view of the cluster that policies in Python receive.
//!
//! The engine's view borrows the engine's state, but a Python object cannot borrow it. Each callback therefore gets its
//! own [`View`], a copy of the state that policies use. A view does not change, even if the policy keeps it.

use std::sync::Arc;

use gleaner_simulate::free::FreeGpus;
use gleaner_simulate::placer::Placer;
use gleaner_simulate::view::View as EngineView;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A job as it was submitted. Every call to a policy passes the same object for the same job.
#[pyclass(frozen, module = "gleaner")]
pub struct Job {
    /// Index of the job in the virtual cluster.
    pub index: usize,
    /// The job as it was submitted.
    pub job: gleaner_domain::jobs::Job,
    /// Estimated duration of the job in seconds.
    pub estimate: f64,
}

#[pymethods]
impl Job {
    /// The id of the job, unique in the trace.
    #[getter]
    fn id(&self) -> &str {
        &self.job.id
    }

    /// The user who submitted the job; empty if the trace does not state the user.
    #[getter]
    fn user(&self) -> &str {
        &self.job.user
    }

    /// The name that the user gave the job; empty if the trace does not state the name.
    #[getter]
    fn name(&self) -> &str {
        &self.job.name
    }

    /// Number of GPUs.
    #[getter]
    fn gpus(&self) -> u32 {
        self.job.gpus
    }

    /// Second at which the job was submitted.
    #[getter]
    fn submit(&self) -> i64 {
        self.job.submit
    }

    /// Run time in seconds if the job runs alone and at full speed. A real scheduler cannot know this time.
    #[getter]
    fn duration(&self) -> i64 {
        self.job.duration
    }

    /// Estimated duration in seconds, for policies whose `needs` is `"estimates"` or `"packing"`; otherwise the true
    /// duration.
    #[getter]
    fn estimate(&self) -> f64 {
        self.estimate
    }

    fn __repr__(&self) -> String {
        format!("<gleaner.Job {:?}: {} GPUs>", self.job.id, self.job.gpus)
    }
}

/// A running job in a view.
struct Running {
    job: usize,
    left: f64,
    since: i64,
    is_alone: bool,
    nodes: Vec<(u32, u32)>,
}

/// A read-only view of the state of a virtual cluster at a given second.
#[pyclass(frozen, module = "gleaner")]
pub struct View {
    now: i64,
    jobs: Arc<Vec<Py<Job>>>,
    waiting: Arc<Vec<usize>>,
    /// Remaining work of each waiting job, in the order of `waiting`.
    waiting_left: Vec<f64>,
    running: Vec<Running>,
    free: FreeGpus,
    placer: &'static dyn Placer,
}

impl View {
    /// Copies the engine's current state. `jobs` are the Python objects of the jobs, by index.
    pub fn of(
        view: &EngineView<'_>,
        jobs: &Arc<Vec<Py<Job>>>,
        waiting: &Arc<Vec<usize>>,
        placer: &'static dyn Placer,
    ) -> Self {
        let running = view.running().map(|job| Running {
            job,
            left: view.left(job),
            since: view.since(job),
            is_alone: view.is_alone(job),
            nodes: counts(view.placement(job)),
        });
        View {
            now: view.now(),
            jobs: Arc::clone(jobs),
            waiting: Arc::clone(waiting),
            waiting_left: waiting.iter().map(|&job| view.left(job)).collect(),
            running: running.collect(),
            free: view.free().clone(),
            placer,
        }
    }

    fn list(&self, py: Python<'_>, jobs: impl Iterator<Item = usize>) -> Vec<Py<Job>> {
        jobs.map(|job| self.jobs[job].clone_ref(py)).collect()
    }

    fn find(&self, job: &Job) -> PyResult<&Running> {
        let mut running = self.running.iter();
        let found = running.find(|running| running.job == job.index);
        found.ok_or_else(|| {
            PyValueError::new_err(format!("the job {:?} is not running", job.job.id))
        })
    }
}

#[pymethods]
impl View {
    /// The current second.
    #[getter]
    fn now(&self) -> i64 {
        self.now
    }

    /// The waiting jobs, in the order in which they joined the queue.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> Vec<Py<Job>> {
        self.list(py, self.waiting.iter().copied())
    }

    /// The running jobs, in the order of their starts.
    #[getter]
    fn running(&self, py: Python<'_>) -> Vec<Py<Job>> {
        self.list(py, self.running.iter().map(|running| running.job))
    }

    /// Number of free GPUs.
    #[getter]
    fn free_gpus(&self) -> u64 {
        self.free.total()
    }

    /// Number of free GPUs of each node.
    #[getter]
    fn free_by_node(&self) -> Vec<u32> {
        (0..self.free.slots())
            .map(|node| self.free.on(node))
            .collect()
    }

    /// Number of GPUs of each node.
    #[getter]
    fn gpus_per_node(&self) -> u32 {
        self.free.gpus_per_node()
    }

    /// Whether the placer can place a job on the free GPUs.
    fn fits(&self, job: &Bound<'_, Job>) -> bool {
        let gpus = job.get().job.gpus;
        self.placer.place(&self.free, gpus).is_some()
    }

    /// Remaining work of a running or waiting job, in seconds at full speed. Includes the cost of checkpoints if the
    /// job was preempted.
    fn left(&self, job: &Bound<'_, Job>) -> PyResult<f64> {
        let job = job.get();
        let waiting = self
            .waiting
            .iter()
            .position(|&waiting| waiting == job.index);
        match waiting {
            Some(at) => Ok(self.waiting_left[at]),
            None => Ok(self.find(job)?.left),
        }
    }

    /// Second at which a running job last started or changed its speed.
    fn since(&self, job: &Bound<'_, Job>) -> PyResult<i64> {
        Ok(self.find(job.get())?.since)
    }

    /// Whether a running job has exclusive use of its GPUs.
    fn is_alone(&self, job: &Bound<'_, Job>) -> PyResult<bool> {
        Ok(self.find(job.get())?.is_alone)
    }

    /// The nodes of a running job, each with the number of GPUs that the job uses there.
    fn nodes(&self, job: &Bound<'_, Job>) -> PyResult<Vec<(u32, u32)>> {
        Ok(self.find(job.get())?.nodes.clone())
    }

    fn __repr__(&self) -> String {
        let (waiting, running) = (self.waiting.len(), self.running.len());
        format!(
            "<gleaner.View at {}: {waiting} waiting, {running} running, {} GPUs free>",
            self.now,
            self.free.total()
        )
    }
}

/// The number of GPUs that a placement uses on each of its nodes.
fn counts(placement: &[(u32, u64)]) -> Vec<(u32, u32)> {
    let nodes = placement.iter();
    nodes
        .map(|(node, gpus)| (*node, gpus.count_ones()))
        .collect()
}
