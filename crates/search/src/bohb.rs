//! BOHB (Falkner, Klein and Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization at Scale", ICML 2018,
//! arXiv:1807.01774): Hyperband, except that a model proposes the hyperparameters of new trials.

use std::collections::BTreeMap;

use rand::RngExt;

use crate::hyperband::Hyperband;
use crate::random::{Purpose, stream};
use crate::score::Score;
use crate::tpe::{Model, Observation};
use crate::{Bracket, Job, Parameters, Scheduler, Space, Verdict};

/// Share of the trials whose hyperparameters are drawn at random, so that the search also explores.
const RANDOM: f64 = 1.0 / 3.0;

/// The state of BOHB.
#[derive(Debug)]
pub(crate) struct Bohb {
    brackets: Hyperband,
    space: Space,
    seed: u64,
    /// The hyperparameters of the trials, by trial.
    parameters: Vec<Parameters>,
    /// The losses at each resource. Resources are positive, so their bit patterns sort like their values.
    losses: BTreeMap<u64, Vec<Score>>,
}

impl Bohb {
    /// Creates a search with the brackets of Hyperband.
    pub(crate) fn new(brackets: Vec<Bracket>, seed: u64, space: Space) -> Self {
        Bohb {
            brackets: Hyperband::new(brackets),
            space,
            seed,
            parameters: Vec::new(),
            losses: BTreeMap::new(),
        }
    }

    /// Proposes the hyperparameters of a new trial.
    fn propose(&self, trial: u32) -> Parameters {
        let mut random = stream(self.seed, Purpose::Explore, 0, trial);
        let is_random = random.random::<f64>() < RANDOM;
        let model = self.model().filter(|_| !is_random);
        match model {
            Some(model) => self.space.of_unit(&model.propose(&mut random)),
            None => self.space.draw(self.seed, trial),
        }
    }

    /// The model of the greatest resource with enough losses; `None` if no resource has enough losses.
    fn model(&self) -> Option<Model> {
        let mut resources = self.losses.values().rev();
        let enough = resources.find(|scores| scores.len() >= Model::least(self.space.0.len()))?;
        let observations = enough.iter().filter_map(|score| {
            let parameters = self.parameters.get(score.trial as usize)?;
            let unit = self.space.unit(parameters);
            Some(Observation {
                score: *score,
                unit,
            })
        });
        Some(Model::new(observations.collect(), &self.space))
    }
}

impl Scheduler for Bohb {
    fn next_job(&mut self) -> Option<Job> {
        let job = self.brackets.next_job()?;
        if job.rung == 0 {
            // Trials start in the order of their numbers.
            self.parameters.push(self.propose(job.trial));
        }
        Some(job)
    }

    fn report(&mut self, job: &Job, loss: f64) -> Vec<Verdict> {
        let scores = self.losses.entry(job.to.to_bits()).or_default();
        scores.push(Score::new(job.trial, loss));
        self.brackets.report(job, loss)
    }

    fn unpromoted(&self) -> Vec<u32> {
        self.brackets.unpromoted()
    }

    fn parameters(&self, trial: u32) -> Option<Parameters> {
        self.parameters.get(trial as usize).cloned()
    }
}
