//! [`Search`], the type that runs a search with any of the algorithms.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::asha::Asha;
use crate::bohb::Bohb;
use crate::hyperband::Hyperband;
use crate::median::Median;
use crate::pbt::Pbt;
use crate::score::Score;
use crate::{Algorithm, Fault, LearningCurves, Parameters, Parent, Plan, Scheduler, Space};

/// The training of a trial from one resource to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// The trial. Trials are numbered from 0 in the order in which they start.
    pub trial: u32,
    /// Index of the rung that the trial reaches. The bottom rung has index 0. If the index is above 0, the trial has
    /// been promoted.
    pub rung: u32,
    /// Number of the trial's bracket (see [`crate::Bracket::number`]).
    pub bracket: u32,
    /// The resource that the trial has consumed before the job: the resource of the rung below, or 0 for a new trial.
    pub from: f64,
    /// The resource that the trial will have consumed after the job: the resource of the rung, above
    /// `from`.
    pub to: f64,
}

impl Job {
    /// The job that trains a trial up to `rung`, starting from the previous rung. `resources` lists the resource of
    /// each rung. `None` above the last rung.
    pub(crate) fn towards(resources: &[f64], trial: u32, rung: usize) -> Option<Job> {
        let below = rung.checked_sub(1);
        let from = below.and_then(|below| resources.get(below));
        Some(Job {
            trial,
            rung: rung as u32,
            bracket: 0,
            from: from.copied().unwrap_or(0.0),
            to: *resources.get(rung)?,
        })
    }
}

/// The next step of the caller, as returned by [`Search::next`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub enum Next {
    /// Run this job and report its loss.
    Job(Job),
    /// There is nothing to do before another loss is reported.
    Wait,
    /// The search has ended: all losses are reported, and no job will follow.
    Done,
}

/// A decision about a trial, which later losses do not change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The trial will continue to this rung.
    Promoted {
        /// The trial.
        trial: u32,
        /// The rung to which the trial continues.
        rung: u32,
        /// The resource of the rung.
        to: f64,
    },
    /// The trial was not among the best of its rung, and has no further job.
    Stopped {
        /// The trial.
        trial: u32,
    },
    /// The trial reached the last rung, and has no further job.
    Finished {
        /// The trial.
        trial: u32,
    },
}

/// A loss was reported for a trial that has no outstanding job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("trial {trial} has no outstanding job")]
pub struct NoJob {
    /// The trial.
    pub trial: u32,
}

/// A search: hands out jobs and decides, based on their losses, which trials continue.
///
/// # Losses
///
/// A lower loss is better. If losses are equal, the trial with the lower number is better. A loss that is not finite
/// counts as infinite, which is the worst loss. Trials with an infinite loss are still promoted if too few trials are
/// better.
///
/// Trials may have several losses (see [`Search::report_all`]). Random search, successive halving, ASHA and Hyperband
/// then rank trials by non-dominated fronts (see [`Fronts`](crate::Fronts)). Other algorithms use only the first loss.
///
/// # Events of a search
///
/// Each event of a trial is visible in a call:
///
/// | event | shows as |
/// |---|---|
/// | started | a job with rung 0 |
/// | reached a rung | the call to [`Search::report`] |
/// | promoted | [`Verdict::Promoted`]; with ASHA, a job with a rung above 0 |
/// | stopped | [`Verdict::Stopped`]; with ASHA, [`Search::unpromoted`] once the search is done |
/// | finished | [`Verdict::Finished`] |
///
/// # Costs
///
/// With the built-in algorithms, a call to [`Search::next`] and the report that follows together take
/// O(rungs + log trials) time. A report that closes a rung takes time proportional to the number of trials of the rung.
#[derive(Debug)]
pub struct Search {
    scheduler: Box<dyn Scheduler>,
    outstanding: BTreeMap<u32, Job>,
    best: Option<Score>,
    seed: u64,
    space: Space,
}

impl Search {
    /// Begins a search without hyperparameters.
    ///
    /// # Errors
    /// The plan is invalid, or BOHB is chosen, which needs hyperparameters. Returns the faults.
    pub fn new(plan: Plan) -> Result<Self, Vec<Fault>> {
        Self::seeded(plan, 0, &Space::default())
    }

    /// Begins a search of a space of hyperparameters. All random choices depend only on the seed.
    ///
    /// # Errors
    /// The plan or the space is invalid, or BOHB is chosen and the space is empty. Returns the faults.
    pub fn seeded(plan: Plan, seed: u64, space: &Space) -> Result<Self, Vec<Fault>> {
        plan.validate_with(space)?;
        let trials = plan.trials.unwrap_or(0);
        let mut search = Search::with(match plan.algorithm {
            Algorithm::Asha => Box::new(Asha::new(plan.rungs(), plan.eta, trials)),
            Algorithm::Median => Box::new(Median::new(plan.rungs(), trials)),
            Algorithm::Pbt => Box::new(Pbt::new(plan.rungs(), trials, seed, space.clone())),
            Algorithm::Bohb => Box::new(Bohb::new(plan.brackets(), seed, space.clone())),
            // Random search is one bracket with one rung.
            Algorithm::Random | Algorithm::SuccessiveHalving | Algorithm::Hyperband => {
                Box::new(Hyperband::new(plan.brackets()))
            }
        });
        (search.seed, search.space) = (seed, space.clone());
        Ok(search)
    }

    /// Begins a search with an algorithm of your own.
    pub fn with(scheduler: Box<dyn Scheduler>) -> Self {
        Search {
            scheduler,
            outstanding: BTreeMap::new(),
            best: None,
            seed: 0,
            space: Space::default(),
        }
    }

    /// Hands out the next job, which is outstanding until its loss is reported.
    ///
    /// Successive halving hands out the jobs of a rung in the order of the losses on the rung below, best first.
    /// Hyperband's brackets start in the order of [`Plan::brackets`]. If a bracket has handed out all jobs of its rung
    /// but some losses are missing, the next bracket hands out its jobs. This order does not affect which trials a
    /// bracket promotes, as long as a loss depends only on the trial and the resource.
    ///
    /// ASHA promotes the best promotable trial of the highest rung with promotable trials. If no trial is promotable,
    /// ASHA starts a new trial, or waits if all trials have started. A result can make another trial promotable, or
    /// push a promotable trial out of the top. Which trials are promoted therefore depends on when jobs are requested.
    /// With fewer than eta^(rungs − 1) trials, it is possible that no trial reaches the last rung.
    #[expect(
        clippy::should_implement_trait,
        reason = "`Iterator::next` cannot tell the caller to wait"
    )]
    pub fn next(&mut self) -> Next {
        match self.scheduler.next_job() {
            Some(job) => {
                self.outstanding.insert(job.trial, job);
                Next::Job(job)
            }
            None if self.outstanding.is_empty() => Next::Done,
            None => Next::Wait,
        }
    }

    /// Records that the outstanding job of a trial ended with this loss. Returns the decisions that are now certain.
    /// When a rung closes, the promoted trials come first, and the stopped trials follow. Each group is ordered from
    /// best to worst.
    ///
    /// # Errors
    /// The trial has no outstanding job. The search is then unchanged.
    pub fn report(&mut self, trial: u32, loss: f64) -> Result<Vec<Verdict>, NoJob> {
        self.report_all(trial, &[loss])
    }

    /// Like [`Search::report`], but records all losses of the job, at least one. Every job has the same number of
    /// losses, in the same order.
    ///
    /// # Errors
    /// The trial has no outstanding job. The search is then unchanged.
    pub fn report_all(&mut self, trial: u32, losses: &[f64]) -> Result<Vec<Verdict>, NoJob> {
        let job = self.outstanding.remove(&trial).ok_or(NoJob { trial })?;
        let verdicts = self.scheduler.report_all(&job, losses);
        if verdicts.contains(&Verdict::Finished { trial }) {
            let score = Score::of(trial, losses);
            self.best = self.best.into_iter().chain([score]).min();
        }
        Ok(verdicts)
    }

    /// The next job of a trial whose loss was just reported, if the trial can continue immediately on the nodes that it
    /// holds. The job is then outstanding. If the caller does not call this method, [`Search::next`] hands out the job.
    ///
    /// Only median stopping and population-based training have such jobs.
    pub fn resume(&mut self, trial: u32) -> Option<Job> {
        let job = self.scheduler.resume(trial)?;
        self.outstanding.insert(trial, job);
        Some(job)
    }

    /// The hyperparameters of a trial that was started; empty if the search has none.
    pub fn parameters(&self, trial: u32) -> Parameters {
        let own = self.scheduler.parameters(trial);
        own.unwrap_or_else(|| self.space.draw(self.seed, trial))
    }

    /// The trial from whose state a trial started; `None` if the trial started untrained.
    pub fn parent(&self, trial: u32) -> Option<Parent> {
        self.scheduler.parent(trial)
    }

    /// The measured loss of a trial on these curves, after it has consumed `resource`.
    ///
    /// If the search has hyperparameters, the floor of a trial's curve in a family depends on them. The closer they are
    /// to the best hyperparameters, the lower the floor. The family's seed determines the best hyperparameters: see
    /// [`Space::rank`].
    ///
    /// A trial with a parent starts with its parent's loss, which then falls in proportion to the trial's own curve. For
    /// example, if the parent had a loss of 2, and the trial's own curve falls from 3 to 1.5 between the same resources,
    /// the trial's loss falls from 2 to 1.
    pub fn loss(&self, curves: &LearningCurves, trial: u32, resource: f64) -> f64 {
        self.true_loss(curves, trial, resource) + curves.noise(trial, resource)
    }

    /// Like [`Search::loss`], but without noise.
    pub fn true_loss(&self, curves: &LearningCurves, trial: u32, resource: f64) -> f64 {
        // Nothing is drawn if the search has no hyperparameters, which is the case in most searches.
        let family = curves.family().filter(|_| !self.space.0.is_empty());
        let rank = family.and_then(|family| self.space.rank(&self.parameters(trial), family.seed));
        let own = |resource| curves.true_loss_at(trial, resource, rank);
        match self.parent(trial) {
            Some(parent) => {
                let copied = self.true_loss(curves, parent.trial, parent.resource);
                copied * (own(resource) / own(parent.resource))
            }
            None => own(resource),
        }
    }

    /// The trial with the lowest loss among those that reached the last rung, and its loss. The loss is infinite if
    /// none of these trials has a finite loss. If trials have several losses, the first loss counts.
    pub fn best(&self) -> Option<(u32, f64)> {
        self.best.map(|score| (score.trial, score.loss))
    }

    /// The jobs that were handed out and whose losses have not been reported, in the order of the trials.
    pub fn outstanding(&self) -> impl Iterator<Item = Job> {
        self.outstanding.values().copied()
    }

    /// The trials, ascending, whose last job ended below the last rung and that are neither promoted nor
    /// stopped. They are waiting for their rung to close or, with ASHA, to become promotable. Once ASHA
    /// is done, these are the trials that it stopped; once another algorithm is done, the list is empty.
    ///
    /// Takes time proportional to the number of all trials.
    pub fn unpromoted(&self) -> Vec<u32> {
        let mut trials = self.scheduler.unpromoted();
        trials.sort_unstable();
        trials
    }
}
