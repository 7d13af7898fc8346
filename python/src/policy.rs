//! Scheduling policies in Python: subclasses of `gleaner.Policy`.
//!
//! The engine's view borrows its state, which objects of Python cannot. So each callback gets a [`View`] of
//! its own, a copy of what policies look at, which stays as it was when the policy keeps it. Decisions are
//! checked here before the engine carries them out, as it trusts them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_core::domain::inputs::{Packing, Pair};
use gleaner_simulate::free::FreeGpus;
use gleaner_simulate::placer::Placer;
use gleaner_simulate::policies::{self, Context, Make, Needs, PolicyEntry};
use gleaner_simulate::policy::{Decision, Policy};
use gleaner_simulate::view::{Status, View as EngineView};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::host::Host;

/// A job as it was submitted. The same job is the same object in all calls to a policy.
#[pyclass(frozen, module = "gleaner")]
pub struct Job {
    /// Its index in the virtual cluster.
    index: usize,
    job: gleaner_core::domain::jobs::Job,
    estimate: f64,
}

#[pymethods]
impl Job {
    /// Its name, unique in the trace.
    #[getter]
    fn id(&self) -> &str {
        &self.job.id
    }

    /// Who submitted it; empty if the trace does not say.
    #[getter]
    fn user(&self) -> &str {
        &self.job.user
    }

    /// The name that its user gave it; empty if the trace does not say.
    #[getter]
    fn name(&self) -> &str {
        &self.job.name
    }

    /// Number of GPUs.
    #[getter]
    fn gpus(&self) -> u32 {
        self.job.gpus
    }

    /// Second of its submission.
    #[getter]
    fn submit(&self) -> i64 {
        self.job.submit
    }

    /// Seconds that it runs alone at full speed: what a real scheduler cannot know.
    #[getter]
    fn duration(&self) -> i64 {
        self.job.duration
    }

    /// Estimated duration in seconds, for policies whose `needs` is `"estimates"` or `"packing"`; else the true
    /// one.
    #[getter]
    fn estimate(&self) -> f64 {
        self.estimate
    }

    fn __repr__(&self) -> String {
        format!("<gleaner.Job {:?}: {} GPUs>", self.job.id, self.job.gpus)
    }
}

/// Starts a waiting job on free GPUs, which the placer chooses.
#[pyclass(frozen, module = "gleaner")]
pub struct Start(Py<Job>);

#[pymethods]
impl Start {
    #[new]
    fn new(job: Py<Job>) -> Self {
        Start(job)
    }

    /// The job.
    #[getter]
    fn job(&self, py: Python<'_>) -> Py<Job> {
        self.0.clone_ref(py)
    }
}

/// Starts a waiting job on the GPUs of one that runs alone, at the speeds of the measured pair. Only for
/// policies whose `needs` is `"packing"`.
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

    /// The job that runs alone.
    #[getter]
    fn partner(&self, py: Python<'_>) -> Py<Job> {
        self.1.clone_ref(py)
    }
}

/// Checkpoints a running job and sends it back to the queue.
#[pyclass(frozen, module = "gleaner")]
pub struct Preempt(Py<Job>);

#[pymethods]
impl Preempt {
    #[new]
    fn new(job: Py<Job>) -> Self {
        Preempt(job)
    }

    /// The job.
    #[getter]
    fn job(&self, py: Python<'_>) -> Py<Job> {
        self.0.clone_ref(py)
    }
}

/// A running job, as views show it.
struct Running {
    job: usize,
    left: f64,
    since: i64,
    is_alone: bool,
    nodes: Vec<(u32, u32)>,
}

/// A virtual cluster at one second, read-only.
#[pyclass(frozen, module = "gleaner")]
pub struct View {
    now: i64,
    jobs: Arc<Vec<Py<Job>>>,
    waiting: Arc<Vec<usize>>,
    running: Vec<Running>,
    free: FreeGpus,
    placer: &'static dyn Placer,
}

impl View {
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

    /// GPUs of every node.
    #[getter]
    fn gpus_per_node(&self) -> u32 {
        self.free.gpus_per_node()
    }

    /// Whether the placer can place a job on the GPUs that are free.
    fn fits(&self, job: &Bound<'_, Job>) -> bool {
        let gpus = job.get().job.gpus;
        self.placer.place(&self.free, gpus).is_some()
    }

    /// Work left to a running job, in seconds at full speed.
    fn left(&self, job: &Bound<'_, Job>) -> PyResult<f64> {
        Ok(self.find(job.get())?.left)
    }

    /// Second of the latest start or change of speed of a running job.
    fn since(&self, job: &Bound<'_, Job>) -> PyResult<i64> {
        Ok(self.find(job.get())?.since)
    }

    /// Whether a running job has its GPUs alone.
    fn is_alone(&self, job: &Bound<'_, Job>) -> PyResult<bool> {
        Ok(self.find(job.get())?.is_alone)
    }

    /// The nodes of a running job, each with the number of its GPUs there.
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

/// The methods of a policy that it has of its own; others are not called.
#[derive(Clone, Copy, Default)]
struct Hooks {
    submitted: bool,
    started: bool,
    preempted: bool,
    ended: bool,
    restored: bool,
    open: bool,
    wake: bool,
    priority: bool,
}

impl Hooks {
    fn of(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let base = policy.py().import("gleaner.policy")?.getattr("Policy")?;
        let class = policy.get_type();
        let own = |name: &str| Ok::<_, PyErr>(!class.getattr(name)?.is(&base.getattr(name)?));
        Ok(Hooks {
            submitted: own("submitted")?,
            started: own("started")?,
            preempted: own("preempted")?,
            ended: own("ended")?,
            restored: own("restored")?,
            open: own("open")?,
            wake: own("wake")?,
            priority: own("priority")?,
        })
    }
}

/// A policy class of Python.
pub struct PolicyClass {
    /// Its name in results.
    pub name: &'static str,
    /// What it requires.
    pub needs: Needs,
    make: Box<Make<'static>>,
}

impl PolicyClass {
    /// The class `class`; a policy is made of it for each virtual cluster.
    pub fn new(
        name: &str,
        needs: &str,
        class: Py<PyAny>,
        placer: &'static dyn Placer,
        host: &Arc<Host>,
    ) -> PyResult<Self> {
        if name == "all" || policies::ALL.iter().any(|entry| entry.name == name) {
            let text = format!("there is a policy {name:?} already: give yours another name");
            return Err(PyValueError::new_err(text));
        }
        let needs = match needs {
            "jobs" => Needs::Jobs,
            "estimates" => Needs::Estimates,
            "packing" => Needs::Packing,
            other => {
                let expected = "expected jobs, estimates or packing";
                let text = format!("{name}.needs is {other:?}, {expected}");
                return Err(PyValueError::new_err(text));
            }
        };
        let host = Arc::clone(host);
        Ok(PolicyClass {
            name: lasting(name),
            needs,
            make: Box::new(move |context| {
                Box::new(InPython::new(&class, context, placer, Arc::clone(&host)))
            }),
        })
    }

    /// The class as a policy that can be chosen by its name.
    pub fn entry(&self) -> PolicyEntry<'_> {
        PolicyEntry {
            name: self.name,
            title: "a policy in Python",
            needs: self.needs,
            notice: 0,
            profiled: false,
            published: false,
            make: self.make.as_ref(),
        }
    }
}

/// A name that lasts as long as the process, as results ask for. Each is kept once.
fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(kept);
    kept
}

/// A policy in Python for one virtual cluster.
struct InPython<'a> {
    /// `None` if its class raised.
    policy: Option<Py<PyAny>>,
    hooks: Hooks,
    jobs: Arc<Vec<Py<Job>>>,
    waiting: Arc<Vec<usize>>,
    packing: Option<&'a dyn Packing>,
    placer: &'static dyn Placer,
    host: Arc<Host>,
}

impl<'a> InPython<'a> {
    fn new(
        class: &Py<PyAny>,
        context: &Context<'a>,
        placer: &'static dyn Placer,
        host: Arc<Host>,
    ) -> Self {
        let made = Python::attach(|py| {
            let jobs = (0..).zip(context.jobs).zip(context.estimates);
            let jobs = jobs.map(|((index, job), &estimate)| {
                let job = (*job).clone();
                Py::new(
                    py,
                    Job {
                        index,
                        job,
                        estimate,
                    },
                )
            });
            let jobs = jobs.collect::<PyResult<Vec<_>>>()?;
            let policy = class.bind(py).call0()?;
            Ok((Hooks::of(&policy)?, policy.unbind(), jobs))
        });
        let (hooks, policy, jobs) = match made {
            Ok((hooks, policy, jobs)) => (hooks, Some(policy), jobs),
            Err(error) => {
                host.fail(error);
                (Hooks::default(), None, Vec::new())
            }
        };
        InPython {
            policy,
            hooks,
            jobs: Arc::new(jobs),
            waiting: Arc::default(),
            packing: context.packing,
            placer,
            host,
        }
    }

    /// Calls Python with the policy; an exception stops the run.
    fn call<T>(
        &self,
        what: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let policy = self.policy.as_ref().filter(|_| !self.host.is_stopped())?;
        let called = Python::attach(|py| what(py, policy.bind(py)));
        called.map_err(|error| self.host.fail(error)).ok()
    }

    fn notify(&self, hook: &str, job: usize, view: &EngineView<'_>) {
        self.call(|py, policy| {
            let job = self.jobs[job].bind(py);
            policy.call_method1(hook, (job, self.view(view))).map(drop)
        });
    }

    fn view(&self, view: &EngineView<'_>) -> View {
        let running = view.running().map(|job| Running {
            job,
            left: view.left(job),
            since: view.since(job),
            is_alone: view.is_alone(job),
            nodes: counts(view.placement(job)),
        });
        View {
            now: view.now(),
            jobs: Arc::clone(&self.jobs),
            waiting: Arc::clone(&self.waiting),
            running: running.collect(),
            free: view.free().clone(),
            placer: self.placer,
        }
    }

    /// The decision that an object of Python stands for.
    fn decision(
        &self,
        decided: &Bound<'_, PyAny>,
        view: &EngineView<'_>,
    ) -> PyResult<Option<Decision>> {
        if decided.is_none() {
            return Ok(None);
        }
        let py = decided.py();
        if let Ok(start) = decided.cast::<Start>() {
            let job = self.in_state(start.get().0.bind(py), Status::Waiting, view)?;
            let gpus = view.job(job).gpus;
            let no_room = || self.refusal(job, "does not fit on the GPUs that are free");
            let placement = view.place(gpus).ok_or_else(no_room)?;
            return Ok(Some(Decision::Start { job, placement }));
        }
        if let Ok(preempt) = decided.cast::<Preempt>() {
            let job = self.in_state(preempt.get().0.bind(py), Status::Running, view)?;
            if !view.is_alone(job) {
                return Err(self.refusal(job, "shares its GPUs, and cannot be preempted"));
            }
            return Ok(Some(Decision::Preempt { job }));
        }
        if let Ok(share) = decided.cast::<Share>() {
            let job = self.in_state(share.get().0.bind(py), Status::Waiting, view)?;
            let with = self.in_state(share.get().1.bind(py), Status::Running, view)?;
            let pair = self.pair(job, with, view)?;
            return Ok(Some(Decision::Share { job, with, pair }));
        }
        let kind = decided.get_type();
        Err(PyTypeError::new_err(format!(
            "next returned {kind}: expected Start, Preempt, Share, or None to end the round"
        )))
    }

    /// The index of a job of this virtual cluster, in this state.
    fn in_state(
        &self,
        job: &Bound<'_, Job>,
        status: Status,
        view: &EngineView<'_>,
    ) -> PyResult<usize> {
        let index = job.get().index;
        let own = self.jobs.get(index).filter(|own| own.is(job));
        if own.is_none() {
            let id = &job.get().job.id;
            let text = format!("the job {id:?} is one of another virtual cluster or run");
            return Err(PyValueError::new_err(text));
        }
        match (view.status(index) == status, status) {
            (true, _) => Ok(index),
            (false, Status::Waiting) => Err(self.refusal(index, "is not waiting")),
            (false, _) => Err(self.refusal(index, "is not running")),
        }
    }

    fn pair(&self, job: usize, with: usize, view: &EngineView<'_>) -> PyResult<Pair> {
        if !view.is_alone(with) {
            return Err(self.refusal(with, "does not run alone"));
        }
        if view.job(job).gpus != view.job(with).gpus {
            return Err(self.refusal(with, "has another number of GPUs than its partner"));
        }
        let Some(packing) = self.packing else {
            let text = "jobs can share GPUs only under a policy whose needs is \"packing\"";
            return Err(PyValueError::new_err(text));
        };
        let pair = packing.pair(view.job(job), view.job(with));
        pair.ok_or_else(|| self.refusal(job, "was not measured together with this partner"))
    }

    fn refusal(&self, job: usize, why: &str) -> PyErr {
        let id = Python::attach(|py| self.jobs[job].bind(py).get().job.id.clone());
        PyValueError::new_err(format!("the job {id:?} {why}"))
    }

    fn queue(&mut self, job: usize) {
        Arc::make_mut(&mut self.waiting).push(job);
    }

    fn dequeue(&mut self, job: usize) {
        let at = self.waiting.iter().position(|waiting| *waiting == job);
        if let Some(at) = at {
            Arc::make_mut(&mut self.waiting).remove(at);
        }
    }
}

/// The number of GPUs on each node.
fn counts(placement: &[(u32, u64)]) -> Vec<(u32, u32)> {
    let nodes = placement.iter();
    nodes
        .map(|(node, gpus)| (*node, gpus.count_ones()))
        .collect()
}

impl Policy for InPython<'_> {
    fn submitted(&mut self, job: usize, view: &EngineView<'_>) {
        self.queue(job);
        if self.hooks.submitted {
            self.notify("submitted", job, view);
        }
    }

    fn started(&mut self, job: usize, view: &EngineView<'_>) {
        self.dequeue(job);
        if self.hooks.started {
            self.notify("started", job, view);
        }
    }

    fn preempted(&mut self, job: usize, view: &EngineView<'_>) {
        self.queue(job);
        if self.hooks.preempted {
            self.notify("preempted", job, view);
        }
    }

    fn ended(&mut self, job: usize, view: &EngineView<'_>) {
        if self.hooks.ended {
            self.notify("ended", job, view);
        }
    }

    fn restored(&mut self, job: usize, view: &EngineView<'_>) {
        if self.hooks.restored {
            self.notify("restored", job, view);
        }
    }

    fn open(&mut self, view: &EngineView<'_>) {
        if self.hooks.open {
            self.call(|_, policy| policy.call_method1("open", (self.view(view),)).map(drop));
        }
    }

    fn next(&mut self, view: &EngineView<'_>) -> Option<Decision> {
        self.call(|_, policy| {
            let decided = policy.call_method1("next", (self.view(view),))?;
            self.decision(&decided, view)
        })?
    }

    fn wake(&mut self, view: &EngineView<'_>) -> Option<i64> {
        if !self.hooks.wake {
            return None;
        }
        self.call(|_, policy| policy.call_method1("wake", (self.view(view),))?.extract())?
    }

    fn priority(&self, job: usize) -> Option<f64> {
        if !self.hooks.priority {
            return None;
        }
        self.call(|py, policy| {
            let job = self.jobs[job].bind(py);
            policy.call_method1("priority", (job,))?.extract()
        })?
    }
}
