//! Runs the engines for Python. The interpreter lock is released, and Ctrl-C stops the engines.
//!
//! Work that calls back into Python runs on the calling thread, because callbacks may depend on their thread and Ctrl-C
//! interrupts only the main thread. All other work runs on a separate thread, while the calling thread checks for
//! signals. Parallel code runs on a separate pool for each call. A pool shared by the process could be blocked by
//! callbacks that start other runs, and would be lost in forked processes.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use gleaner::threads;
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use pyo3::prelude::*;

use crate::errors::exception;

/// Time between two checks for signals.
const PULSE: Duration = Duration::from_millis(20);

/// The context of a run that Python requested.
pub struct Host {
    stop: Arc<AtomicBool>,
    state: Mutex<State>,
}

/// A message for the user: whether it is a warning, and its text.
pub type Remark = (bool, String);

struct State {
    remarks: Vec<Remark>,
    /// The exception that ended the run.
    failure: Option<PyErr>,
    /// Time of the last check for signals.
    looked: Instant,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            stop: Arc::default(),
            state: Mutex::new(State {
                remarks: Vec::new(),
                failure: None,
                looked: Instant::now(),
            }),
        }
    }
}

impl Host {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the run because of an exception. Only the first exception is kept.
    pub fn fail(&self, error: PyErr) {
        self.stop.store(true, Ordering::SeqCst);
        self.state().failure.get_or_insert(error);
    }

    /// The remarks so far.
    pub fn remarks(&self) -> Vec<Remark> {
        self.state().remarks.clone()
    }

    /// Takes the exception that ended the run.
    fn failure(&self) -> Option<PyErr> {
        self.state().failure.take()
    }

    /// Checks that the run was not stopped. Called by runs that have no partial results yet.
    ///
    /// # Errors
    /// The run was stopped. The error is the exception that stopped it, or a `KeyboardInterrupt` if there is none.
    pub fn proceed(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_stopped() {
            Err(self
                .failure()
                .unwrap_or_else(|| exception(py, Error::Interrupted)))
        } else {
            Ok(())
        }
    }

    /// Lets Python handle pending signals. An exception that a handler raises, such as that of Ctrl-C, stops the run.
    fn look_for_signals(&self) {
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.fail(error);
        }
    }

    /// Runs `work` on a new thread, with the interpreter lock released.
    ///
    /// # Errors
    /// An exception stopped the work, or the work failed.
    pub fn on_a_thread<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| thread::scope(|scope| self.watch(scope, work)));
        self.sort_out(py, done)
    }

    fn watch<'scope, 'env, T: Send + 'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, 'env>,
        work: impl FnOnce() -> Result<T> + Send + 'scope,
    ) -> Result<T> {
        let (end, ended) = mpsc::channel::<()>();
        let worker = thread::Builder::new().name("gleaner".to_owned());
        let worker = worker.spawn_scoped(scope, move || {
            // The channel is closed when the work ends, even if the work panics.
            let _end = end;
            threads::with(None, work)
        });
        let worker = worker.map_err(|e| Error::Run(format!("cannot start a thread: {e}")))?;
        while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(PULSE) {
            self.look_for_signals();
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Runs `work` on this thread. The interpreter lock is released except while `work` calls back into Python.
    ///
    /// # Errors
    /// Same as [`Host::on_a_thread`].
    pub fn here<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(work);
        self.sort_out(py, done)
    }

    /// Returns the result, even if the work was stopped. If the work failed, an exception that stopped the work takes
    /// precedence over the work's own error.
    fn sort_out<T>(&self, py: Python<'_>, done: Result<T>) -> PyResult<T> {
        done.map_err(|error| {
            let failure = self.failure();
            failure.unwrap_or_else(|| exception(py, error))
        })
    }

    /// Ends the call that computed `run`.
    ///
    /// # Errors
    /// An exception stopped the run, for example after Ctrl-C. The exception's attribute `run` holds the run.
    pub fn end(&self, py: Python<'_>, run: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.failure() {
            None => Ok(()),
            Some(error) => Err(with_run(py, error, run)),
        }
    }

    fn tell(&self, is_warning: bool, texts: &[String]) {
        let texts = texts.iter().map(|text| (is_warning, text.clone()));
        self.state().remarks.extend(texts);
    }
}

/// Sets the attribute `run` of an exception.
pub fn with_run(py: Python<'_>, error: PyErr, run: &Bound<'_, PyAny>) -> PyErr {
    // An exception that does not accept attributes is raised without the run.
    let _ = error.value(py).setattr("run", run);
    error
}

impl Observer for Host {
    fn remark(&self, remarks: &[String]) {
        self.tell(true, remarks);
    }

    fn inform(&self, information: &[String]) {
        self.tell(false, information);
    }

    fn stop(&self) -> &Arc<AtomicBool> {
        &self.stop
    }

    fn progress(&self, _: usize, _: usize) {
        let is_due = {
            let mut state = self.state();
            let is_due = state.looked.elapsed() > PULSE;
            if is_due {
                state.looked = Instant::now();
            }
            is_due
        };
        if is_due {
            self.look_for_signals();
        }
    }
}
