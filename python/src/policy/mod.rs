//! Scheduling policies in Python: subclasses of `gleaner.Policy`.

mod decision;
mod view;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gleaner_domain::Observer;
use gleaner_domain::inputs::Packing;
use gleaner_domain::results::simulate::Durations;
use gleaner_simulate::placer::Placer;
use gleaner_simulate::policies::{self, Context, Make, Needs, PolicyEntry};
use gleaner_simulate::policy::{Decision, Policy};
use gleaner_simulate::view::View as EngineView;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::host::Host;
use crate::run::Function;
use decision::Checker;
pub use decision::{Preempt, Share, Start};
pub use view::{Job, View};

/// The methods that a policy overrides. Other methods are not called.
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
        if !policy.is_instance(&base)? {
            let kind = policy.get_type();
            let text = format!("{kind} is not a subclass of gleaner.Policy");
            return Err(PyTypeError::new_err(text));
        }
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

/// A policy class in Python.
pub struct PolicyClass {
    /// The name of the policy in results.
    pub name: &'static str,
    /// The inputs that the policy requires.
    pub needs: Needs,
    make: Box<Make<'static>>,
}

impl PolicyClass {
    /// Wraps a class, or a function that creates policies. The class or function creates one policy for each virtual
    /// cluster.
    pub fn new(
        py: Python<'_>,
        policy: &Function,
        needs: &str,
        placer: &'static dyn Placer,
        host: &Arc<Host>,
    ) -> PyResult<Self> {
        let (name, class) = (policy.name.as_str(), policy.value.clone_ref(py));
        if name == "all" || policies::ALL.iter().any(|entry| entry.name == name) {
            let text =
                format!("a policy named {name:?} already exists: give your policy another name");
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

    /// The entry that makes the class available by name.
    pub fn entry(&self) -> PolicyEntry<'_> {
        PolicyEntry {
            name: self.name,
            title: "a policy in Python",
            needs: self.needs,
            durations: Durations::Own,
            notice: 0,
            profiled: false,
            published: false,
            make: self.make.as_ref(),
        }
    }
}

/// A copy of a name that lives as long as the process, because results store names as static strings. Equal names share
/// one copy.
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
    /// The policy; `None` if its class raised an exception.
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

    /// Calls a method of the policy. An exception stops the run.
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
        View::of(view, &self.jobs, &self.waiting, self.placer)
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
            let checker = Checker {
                jobs: &self.jobs,
                packing: self.packing,
                view,
            };
            checker.read(&decided)
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
