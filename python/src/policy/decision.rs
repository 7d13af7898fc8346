//! Decisions of policies in Python. They are checked here, because the engine does not check decisions.

use gleaner_domain::inputs::{Packing, Pair};
use gleaner_simulate::policy::Decision;
use gleaner_simulate::view::{Status, View as EngineView};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::view::Job;

/// Starts a waiting job on free GPUs, which the placer chooses.
#[pyclass(frozen, module = "gleaner")]
pub struct Start(Py<Job>);

#[pymethods]
impl Start {
    #[new]
    fn new(job: Py<Job>) -> Self {
        Start(job)
    }

    /// The waiting job.
    #[getter]
    fn job(&self, py: Python<'_>) -> Py<Job> {
        self.0.clone_ref(py)
    }
}

/// Starts a waiting job on the GPUs of a running job that does not share them yet. Both jobs run at the speeds of the
/// measured pair. Only policies whose `needs` is `"packing"` can use this decision.
#[pyclass(frozen, module = "gleaner")]
pub struct Share(Py<Job>, Py<Job>);

#[pymethods]
impl Share {
    #[new]
    fn new(job: Py<Job>, partner: Py<Job>) -> Self {
        Share(job, partner)
    }

    /// The waiting job.
    #[getter]
    fn job(&self, py: Python<'_>) -> Py<Job> {
        self.0.clone_ref(py)
    }

    /// The running job.
    #[getter]
    fn partner(&self, py: Python<'_>) -> Py<Job> {
        self.1.clone_ref(py)
    }
}

/// Checkpoints a running job and returns it to the queue.
#[pyclass(frozen, module = "gleaner")]
pub struct Preempt(Py<Job>);

#[pymethods]
impl Preempt {
    #[new]
    fn new(job: Py<Job>) -> Self {
        Preempt(job)
    }

    /// The running job.
    #[getter]
    fn job(&self, py: Python<'_>) -> Py<Job> {
        self.0.clone_ref(py)
    }
}

/// Checks the decisions that a policy makes for a virtual cluster at a given moment.
pub struct Checker<'a> {
    /// The jobs of the virtual cluster, by index.
    pub jobs: &'a [Py<Job>],
    /// The measured pairs of jobs; `None` if jobs do not share GPUs.
    pub packing: Option<&'a dyn Packing>,
    /// The state of the virtual cluster.
    pub view: &'a EngineView<'a>,
}

impl Checker<'_> {
    /// Converts a Python object to a decision. `None` ends the round.
    ///
    /// # Errors
    /// `TypeError` if the object is not a decision; `ValueError` if the engine cannot carry out the decision.
    pub fn read(&self, decided: &Bound<'_, PyAny>) -> PyResult<Option<Decision>> {
        if decided.is_none() {
            return Ok(None);
        }
        let py = decided.py();
        if let Ok(start) = decided.cast::<Start>() {
            return self.start(start.get().0.bind(py)).map(Some);
        }
        if let Ok(preempt) = decided.cast::<Preempt>() {
            return self.preempt(preempt.get().0.bind(py)).map(Some);
        }
        if let Ok(share) = decided.cast::<Share>() {
            let Share(job, partner) = share.get();
            return self.share(job.bind(py), partner.bind(py)).map(Some);
        }
        let kind = decided.get_type();
        Err(PyTypeError::new_err(format!(
            "next returned {kind}: expected Start, Preempt, Share, or None to end the round"
        )))
    }

    fn start(&self, job: &Bound<'_, Job>) -> PyResult<Decision> {
        let job = self.in_state(job, Status::Waiting)?;
        let no_room = || self.refusal(job, "does not fit on the free GPUs");
        let placement = self.view.place(self.view.job(job).gpus);
        Ok(Decision::Start {
            job,
            placement: placement.ok_or_else(no_room)?,
        })
    }

    fn preempt(&self, job: &Bound<'_, Job>) -> PyResult<Decision> {
        let job = self.in_state(job, Status::Running)?;
        let decision = Decision::Preempt { job };
        match self.view.refusal(&decision) {
            None => Ok(decision),
            Some((job, refusal)) => {
                let why = format!("cannot be preempted: {refusal}");
                Err(self.refusal(job, &why))
            }
        }
    }

    fn share(&self, job: &Bound<'_, Job>, partner: &Bound<'_, Job>) -> PyResult<Decision> {
        let job = self.in_state(job, Status::Waiting)?;
        let with = self.in_state(partner, Status::Running)?;
        let pair = self.pair(job, with)?;
        Ok(Decision::Share { job, with, pair })
    }

    /// The index of a job of this virtual cluster. Fails if the job belongs elsewhere or is not in the required state.
    fn in_state(&self, job: &Bound<'_, Job>, status: Status) -> PyResult<usize> {
        let index = job.get().index;
        if !self.jobs.get(index).is_some_and(|own| own.is(job)) {
            let id = &job.get().job.id;
            let text = format!("the job {id:?} belongs to another virtual cluster or run");
            return Err(PyValueError::new_err(text));
        }
        match (self.view.status(index) == status, status) {
            (true, _) => Ok(index),
            (false, Status::Waiting) => Err(self.refusal(index, "is not waiting")),
            (false, _) => Err(self.refusal(index, "is not running")),
        }
    }

    /// Speeds and load of two jobs if they share GPUs. Fails if they cannot share GPUs.
    fn pair(&self, job: usize, with: usize) -> PyResult<Pair> {
        if !self.view.is_alone(with) {
            return Err(self.refusal(with, "does not run alone"));
        }
        let (job_of, partner) = (self.view.job(job), self.view.job(with));
        if job_of.gpus != partner.gpus {
            return Err(self.refusal(with, "needs a different number of GPUs than its partner"));
        }
        let Some(packing) = self.packing else {
            let text = "jobs can share GPUs only under a policy whose needs is \"packing\"";
            return Err(PyValueError::new_err(text));
        };
        let pair = packing.pair(job_of, partner);
        pair.ok_or_else(|| self.refusal(job, "was not measured together with this partner"))
    }

    fn refusal(&self, job: usize, why: &str) -> PyErr {
        let id = &self.view.job(job).id;
        PyValueError::new_err(format!("the job {id:?} {why}"))
    }
}
