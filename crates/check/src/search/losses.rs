//! Recomputes the losses of trials from their hyperparameters, their parents and the learning curves.

use std::collections::BTreeMap;

use gleaner_domain::TrialSearch;
use gleaner_domain::results::search::{SearchOutcome, TrialRow};
use gleaner_search::{Algorithm, LearningCurves, Parameters};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The part of the random seed that is reserved for drawing the best hyperparameters.
const OPTIMUM: u64 = 3;

/// The losses of a search's trials.
pub(super) struct Losses<'a> {
    spec: &'a TrialSearch,
    /// For each loss, its learning curves and the point of the unit cube at which it is lowest.
    curves: Vec<(LearningCurves, Vec<f64>)>,
    seed: u64,
    /// The recorded trials, from which proposed hyperparameters and parents are taken.
    written: &'a [TrialRow],
    /// The resource with which each copied trial started.
    starts: BTreeMap<u32, f64>,
}

impl<'a> Losses<'a> {
    pub fn new(spec: &'a TrialSearch, seed: u64, written: Option<&'a SearchOutcome>) -> Self {
        let with_optimum = |curves: LearningCurves| {
            let optimum = match &curves {
                LearningCurves::Family(family) => optimum(family.seed, spec.space.0.len()),
                LearningCurves::Table(_) => Vec::new(),
            };
            (curves, optimum)
        };
        Losses {
            curves: spec.curves(seed).into_iter().map(with_optimum).collect(),
            spec,
            seed,
            written: written.map_or(&[], |written| &written.trials),
            starts: BTreeMap::new(),
        }
    }

    /// Whether the algorithm proposes the hyperparameters. If so, they are taken from the recorded trials.
    pub fn are_proposed(&self) -> bool {
        matches!(self.spec.plan.algorithm, Algorithm::Pbt | Algorithm::Bohb)
    }

    /// The recorded parent of a trial. Only population-based training copies trials.
    pub fn parent(&self, trial: u32) -> Option<u32> {
        let row = self.written.get(trial as usize);
        let row = row.filter(|_| self.spec.plan.algorithm == Algorithm::Pbt);
        row?.parent
    }

    /// Records that a trial starts as a copy of its parent, which has consumed `resource`.
    pub fn copied(&mut self, trial: u32, resource: f64) {
        self.starts.insert(trial, resource);
    }

    /// The hyperparameters of a trial, as they appear in the table.
    pub fn parameters(&self, trial: u32) -> String {
        if self.are_proposed() {
            let row = self.written.get(trial as usize);
            return row.map(|row| row.parameters.clone()).unwrap_or_default();
        }
        let drawn = self.spec.space.draw(self.seed, trial);
        if drawn.is_empty() {
            String::new()
        } else {
            serde_json::to_string(&drawn).unwrap_or_default()
        }
    }

    /// The share of all hyperparameter combinations that are better than the trial's combination. `None` if the search
    /// has no hyperparameters.
    fn rank(&self, trial: u32, optimum: &[f64]) -> Option<f64> {
        let parameters: Parameters = serde_json::from_str(&self.parameters(trial)).ok()?;
        let unit = self.spec.space.unit(&parameters);
        let around = |(x, best): (f64, &f64)| {
            let distance = (x - best).abs();
            2.0 * distance.min(1.0 - distance)
        };
        let shares = unit.into_iter().zip(optimum).map(around);
        let most = shares.reduce(f64::max)?;
        Some(most.powi(optimum.len() as i32))
    }

    /// The first loss of a trial that has consumed `resource`, without noise.
    pub fn true_loss(&self, trial: u32, resource: f64) -> f64 {
        let first = self.curves.first();
        first.map_or(f64::NAN, |(curves, optimum)| {
            self.without_noise(curves, optimum, trial, resource)
        })
    }

    /// One loss of a trial that has consumed `resource`, without noise.
    fn without_noise(
        &self,
        curves: &LearningCurves,
        optimum: &[f64],
        trial: u32,
        resource: f64,
    ) -> f64 {
        let own = |resource: f64| match curves {
            LearningCurves::Table(table) => table.loss(trial, resource),
            LearningCurves::Family(family) => {
                let curve = family.curve(trial, self.rank(trial, optimum));
                curve.floor + curve.amplitude * (1.0 + resource / family.scale).powf(-curve.rate)
            }
        };
        match (self.parent(trial), self.starts.get(&trial)) {
            // A parent must have a lower number than its copy, so that the recursion ends even if the recorded parents
            // are wrong.
            (Some(parent), Some(&start)) if parent < trial => {
                let copied = self.without_noise(curves, optimum, parent, start);
                copied * (own(resource) / own(start))
            }
            _ => own(resource),
        }
    }

    /// The losses of a trial that has consumed `resource`, as measured, with noise.
    pub fn measured(&self, trial: u32, resource: f64) -> Vec<f64> {
        let losses = self.curves.iter().map(|(curves, optimum)| {
            self.without_noise(curves, optimum, trial, resource) + curves.noise(trial, resource)
        });
        losses.collect()
    }
}

/// The point of the unit cube with the lowest loss.
fn optimum(seed: u64, axes: usize) -> Vec<f64> {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&OPTIMUM.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(key);
    (0..axes).map(|_| random.random()).collect()
}
