//! The interface of search algorithms.

use std::fmt;

use crate::{Job, Parameters, Verdict};

/// The trial from whose state another trial started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parent {
    /// Number of the trial.
    pub trial: u32,
    /// The resource that the trial had consumed, from which the other trial continues.
    pub resource: f64,
}

/// A search algorithm: chooses the next jobs, based on the losses of earlier jobs.
///
/// [`Search`](crate::Search) runs a scheduler, and keeps the list of outstanding jobs. To run an algorithm of your own,
/// implement this trait and pass the scheduler to [`Search::with`](crate::Search::with):
///
/// ```
/// use gleaner_search::{Job, Next, Scheduler, Search, Verdict};
///
/// /// Trains three trials to resource 1, and then those with a loss of at most 1 to resource 10.
/// #[derive(Debug, Default)]
/// struct Impatient {
///     started: u32,
///     good: Vec<u32>,
/// }
///
/// impl Scheduler for Impatient {
///     fn next_job(&mut self) -> Option<Job> {
///         if let Some(trial) = self.good.pop() {
///             return Some(Job { trial, rung: 1, bracket: 0, from: 1.0, to: 10.0 });
///         }
///         let trial = self.started;
///         self.started += 1;
///         (trial < 3).then_some(Job { trial, rung: 0, bracket: 0, from: 0.0, to: 1.0 })
///     }
///
///     fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
///         let trial = job.trial;
///         if job.rung == 1 {
///             vec![Verdict::Finished { trial }]
///         } else if loss > 1.0 {
///             vec![Verdict::Stopped { trial }]
///         } else {
///             self.good.push(trial);
///             vec![Verdict::Promoted { trial, rung: 1, to: 10.0 }]
///         }
///     }
/// }
///
/// let mut search = Search::with(Box::new(Impatient::default()));
/// let mut resource = 0.0;
/// while let Next::Job(job) = search.next() {
///     resource += job.to - job.from;
///     search.report(job.trial, f64::from(job.trial))?;
/// }
/// assert_eq!((search.best(), resource), (Some((0, 0.0)), 21.0));
/// # Ok::<(), gleaner_search::NoJob>(())
/// ```
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// The next job; `None` if no job can start before another loss is reported. If no job is outstanding, `None` ends
    /// the search. New trials are numbered from 0 in the order of their first jobs. The first job of a trial has rung 0,
    /// unless the trial has a parent.
    fn next_job(&mut self) -> Option<Job>;

    /// Records the loss of a job, and returns the decisions that are now certain. A loss that is not finite means that
    /// training diverged.
    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict>;

    /// Records all losses of a job, at least one. If any loss is not finite, training diverged. By default, only the
    /// first loss counts.
    fn report_all(&mut self, job: &Job, losses: &[f64]) -> Vec<Verdict> {
        self.report(job, losses.first().copied().unwrap_or(f64::NAN))
    }

    /// The next job of a trial whose loss was just reported, if the trial can continue immediately. The trial then
    /// keeps its nodes. By default, there is no such job, and a promoted trial continues when [`Scheduler::next_job`]
    /// hands out its next job.
    fn resume(&mut self, trial: u32) -> Option<Job> {
        let _ = trial;
        None
    }

    /// The hyperparameters of a trial that was started. By default, they are drawn at random.
    fn parameters(&self, trial: u32) -> Option<Parameters> {
        let _ = trial;
        None
    }

    /// The trial from whose state a trial started. By default, all trials start untrained.
    fn parent(&self, trial: u32) -> Option<Parent> {
        let _ = trial;
        None
    }

    /// The trials that have neither a job nor a final decision, in any order. When the search ends, they count as
    /// stopped. By default, there are none.
    fn unpromoted(&self) -> Vec<u32> {
        Vec::new()
    }
}
