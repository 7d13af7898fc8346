//! Asynchronous successive halving (Li et al. 2020, Algorithm 2).

use crate::standing::Standing;
use crate::{Job, Scheduler, Verdict};

/// The state of ASHA.
#[derive(Debug, Clone)]
pub(crate) struct Asha {
    resources: Vec<f64>,
    /// All rungs except the last rung, from which no trial is promoted.
    rungs: Vec<Standing>,
    trials: u32,
    started: u32,
}

impl Asha {
    /// Creates a search of `trials` trials on rungs with these resources.
    pub(crate) fn new(resources: Vec<f64>, eta: u32, trials: u32) -> Self {
        let below = resources.len().saturating_sub(1);
        Asha {
            rungs: vec![Standing::new(eta); below],
            resources,
            trials,
            started: 0,
        }
    }
}

impl Scheduler for Asha {
    /// Implements the paper's get_job: starts the best promotable trial of the highest rung with promotable trials. If
    /// there is none, starts a new trial.
    fn next_job(&mut self) -> Option<Job> {
        let highest_first = self.rungs.iter_mut().enumerate().rev();
        let mut promotions = highest_first.filter_map(|(k, rung)| Some((k, rung.promote()?)));
        if let Some((k, trial)) = promotions.next() {
            return Job::towards(&self.resources, trial, k + 1);
        }
        if self.started >= self.trials {
            return None;
        }
        let trial = self.started;
        self.started += 1;
        Job::towards(&self.resources, trial, 0)
    }

    /// Records the loss of a job. Promotions are decided when jobs are requested, so this method returns no verdict
    /// about promotions.
    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        self.report_all(job, &[loss])
    }

    fn report_all(&mut self, job: &Job, losses: &[f64]) -> Vec<Verdict> {
        let Some(rung) = self.rungs.get_mut(job.rung as usize) else {
            return vec![Verdict::Finished { trial: job.trial }];
        };
        rung.insert(job.trial, losses);
        Vec::new()
    }

    /// The trials that were last measured below the last rung and have not been promoted since.
    fn unpromoted(&self) -> Vec<u32> {
        self.rungs.iter().flat_map(Standing::unpromoted).collect()
    }
}
