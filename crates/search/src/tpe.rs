//! The model of BOHB: a tree-structured Parzen estimator (Bergstra et al., "Algorithms for Hyper-Parameter
//! Optimization", NIPS 2011), with the multivariate kernels of Falkner et al. 2018.
//!
//! The trials are split into two parts: the good trials, which have the lowest losses, and the others. A kernel density
//! is fitted to the hyperparameters of each part: l for the good trials, and g for the others. The model draws
//! candidates near good trials, and proposes the candidate x with the largest ratio of the densities, l(x) / g(x). Near
//! this candidate, good trials are dense and other trials are sparse.
//!
//! Hyperparameters are represented by coordinates in the unit cube. The coordinate of a number is the probability of a
//! smaller value. For a choice among k values, it is the centre of the corresponding one of k equal intervals.
//!
//! Example: of 20 trials with one hyperparameter, the best 3 have the coordinates 0.1, 0.12 and 0.15. Their standard
//! deviation is 0.0205, so the bandwidth is 1.06 · 0.0205 · 3^(−1/5) = 0.0175. Candidates are drawn with three times this
//! bandwidth, and almost all lie below 0.3.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::learning::{cdf, quantile};
use crate::score::Score;
use crate::{Parameter, Space};

/// Share of the trials that count as good.
const GOOD: f64 = 0.15;

/// Number of candidates for each proposal.
const CANDIDATES: usize = 64;

/// Factor by which the bandwidth is multiplied when candidates are drawn.
const WIDER: f64 = 3.0;

/// Minimum bandwidth of a number's kernel, in the unit cube.
const NARROWEST: f64 = 1e-3;

/// A measured trial.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) score: Score,
    /// The coordinates of the trial's hyperparameters.
    pub(crate) unit: Vec<f64>,
}

/// The densities of the good trials and of the others.
#[derive(Debug)]
pub(crate) struct Model {
    good: Density,
    others: Density,
}

impl Model {
    /// The minimum number of observations that a model of `dimensions` hyperparameters needs.
    pub(crate) fn least(dimensions: usize) -> usize {
        dimensions + 3
    }

    /// Fits the model to the observations.
    pub(crate) fn new(mut observations: Vec<Observation>, space: &Space) -> Self {
        observations.sort_by_key(|observation| observation.score);
        let count = observations.len();
        // Each part has at least one trial more than there are hyperparameters, so the parts can overlap.
        let least = space.0.len() + 1;
        let good = ((GOOD * count as f64) as usize).max(least).min(count);
        let others = (count - good).max(least).min(count);
        let kinds: Vec<Kind> = space.0.values().map(Kind::of).collect();
        let mut units: Vec<Vec<f64>> = observations.into_iter().map(|of| of.unit).collect();
        let bad = units[count - others..].to_vec();
        units.truncate(good);
        Model {
            good: Density::new(units, kinds.clone()),
            others: Density::new(bad, kinds),
        }
    }

    /// The coordinates of the best candidate.
    pub(crate) fn propose(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut best: Option<(f64, Vec<f64>)> = None;
        for _ in 0..CANDIDATES {
            let candidate = self.good.candidate(random);
            // Logarithms are compared: with many hyperparameters, the densities themselves could underflow.
            let ratio = self.good.ln_density(&candidate) - self.others.ln_density(&candidate);
            if best.as_ref().is_none_or(|(most, _)| ratio > *most) {
                best = Some((ratio, candidate));
            }
        }
        best.map_or_else(Vec::new, |(_, candidate)| candidate)
    }
}

/// The kind of a hyperparameter.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Number,
    /// One of this many values.
    Choice(usize),
}

impl Kind {
    fn of(parameter: &Parameter) -> Self {
        match parameter {
            Parameter::Choice(values) => Kind::Choice(values.len().max(1)),
            Parameter::Draw(_) => Kind::Number,
        }
    }
}

/// A kernel density. Numbers have normal kernels, and choices have the kernel of Aitchison and Aitken (1976).
#[derive(Debug)]
struct Density {
    points: Vec<Vec<f64>>,
    kinds: Vec<Kind>,
    /// For each hyperparameter: the standard deviation of the normal kernel, or the probability that a choice differs
    /// from the choice of the point.
    bandwidths: Vec<f64>,
}

impl Density {
    fn new(points: Vec<Vec<f64>>, kinds: Vec<Kind>) -> Self {
        let n = points.len() as f64;
        // The rule of thumb for normal densities in d dimensions (Scott 1992).
        let shrink = n.powf(-1.0 / (4.0 + kinds.len() as f64));
        let bandwidth = |(place, kind): (usize, &Kind)| match kind {
            Kind::Number => {
                let values = || points.iter().map(|point| point[place]);
                let mean = values().sum::<f64>() / n;
                let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
                (1.06 * variance.sqrt() * shrink).max(NARROWEST)
            }
            Kind::Choice(count) => (1.0 - 1.0 / *count as f64) * shrink,
        };
        Density {
            bandwidths: kinds.iter().enumerate().map(bandwidth).collect(),
            points,
            kinds,
        }
    }

    /// The logarithm of the density at `unit`.
    fn ln_density(&self, unit: &[f64]) -> f64 {
        let kernels = self.points.iter().map(|point| {
            let coordinates = unit
                .iter()
                .zip(point)
                .zip(self.kinds.iter().zip(&self.bandwidths));
            let factors = coordinates.map(|((x, at), (kind, bandwidth))| match kind {
                Kind::Number => (-0.5 * ((x - at) / bandwidth).powi(2)).exp() / bandwidth,
                Kind::Choice(_) if x == at => 1.0 - bandwidth,
                Kind::Choice(count) => bandwidth / (count - 1) as f64,
            });
            factors.product::<f64>()
        });
        kernels.sum::<f64>().max(1e-300).ln() - (self.points.len() as f64).ln()
    }

    /// Draws a point near one of the density's points.
    fn candidate(&self, random: &mut ChaCha8Rng) -> Vec<f64> {
        let drawn = (random.random::<f64>() * self.points.len() as f64) as usize;
        let point = &self.points[drawn.min(self.points.len() - 1)];
        let coordinates = point.iter().zip(self.kinds.iter().zip(&self.bandwidths));
        coordinates
            .map(|(at, (kind, bandwidth))| {
                let (first, second): (f64, f64) = (random.random(), random.random());
                match kind {
                    Kind::Number => truncated(*at, WIDER * bandwidth, first),
                    Kind::Choice(_) if first >= *bandwidth => *at,
                    Kind::Choice(count) => {
                        let index = (second * *count as f64) as usize;
                        (index as f64 + 0.5) / *count as f64
                    }
                }
            })
            .collect()
    }
}

/// Converts a uniform number in [0, 1) to a draw from a normal distribution that is truncated to [0, 1].
fn truncated(mean: f64, deviation: f64, uniform: f64) -> f64 {
    let (low, high) = (cdf(-mean / deviation), cdf((1.0 - mean) / deviation));
    let drawn = mean + deviation * quantile(low + uniform * (high - low));
    drawn.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Draw, Value};
    use rand_chacha::rand_core::SeedableRng;
    use std::f64::consts::TAU;

    fn space() -> Space {
        let number = Parameter::Draw(Draw::Uniform {
            low: 0.0,
            high: 1.0,
        });
        let choice = Parameter::Choice([1, 2, 3].map(Value::Whole).to_vec());
        Space([("a".to_owned(), number), ("b".to_owned(), choice)].into())
    }

    fn observation(trial: u32, loss: f64, unit: &[f64]) -> Observation {
        Observation {
            score: Score::new(trial, loss),
            unit: unit.to_vec(),
        }
    }

    /// The density for one number and one choice among three values, according to the formulas of the papers.
    fn naive(points: &[(f64, f64)], x: (f64, f64)) -> f64 {
        let n = points.len() as f64;
        let mean = points.iter().map(|p| p.0).sum::<f64>() / n;
        let sigma = (points.iter().map(|p| (p.0 - mean).powi(2)).sum::<f64>() / n).sqrt();
        let h = f64::max(1.06 * sigma * n.powf(-1.0 / 6.0), 1e-3);
        let lambda = 2.0 / 3.0 * n.powf(-1.0 / 6.0);
        let kernel = |p: &(f64, f64)| {
            let z = (x.0 - p.0) / h;
            let normal = (-z * z / 2.0).exp() / (h * TAU.sqrt());
            let choice = if x.1 == p.1 {
                1.0 - lambda
            } else {
                lambda / 2.0
            };
            normal * choice
        };
        points.iter().map(kernel).sum::<f64>() / n
    }

    #[test]
    fn the_bandwidth_of_the_example() {
        let number = Space([space().0.into_iter().next().unwrap()].into());
        let good = [0.1, 0.12, 0.15];
        let all = (0..20).map(|trial| {
            let x = good.get(trial as usize).copied();
            observation(
                trial,
                f64::from(trial),
                &[x.unwrap_or(0.3 + f64::from(trial) / 40.0)],
            )
        });
        let model = Model::new(all.collect(), &number);
        assert_eq!(model.good.points.len(), 3);
        assert!((model.good.bandwidths[0] - 0.0175).abs() < 1e-4);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20 {
            let proposed = model.propose(&mut random)[0];
            assert!((0.0..0.3).contains(&proposed), "{proposed}");
        }
    }

    #[test]
    fn the_proposal_has_the_largest_ratio_of_naive_densities() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        for trials in [6, 20, 60] {
            let points: Vec<(f64, f64)> = (0..trials)
                .map(|_| {
                    let index = (random.random::<f64>() * 3.0) as usize;
                    (random.random(), (index as f64 + 0.5) / 3.0)
                })
                .collect();
            let observed = (0..).zip(&points);
            let observed = observed.map(|(t, (a, b))| observation(t, f64::from(t), &[*a, *b]));
            let model = Model::new(observed.collect(), &space());
            // 15 % of the trials are good, but each part has at least three trials.
            let good = (trials * 15 / 100).max(3);
            let (l, g) = (&points[..good], &points[good.min(trials - 3)..]);
            let mut same = random.clone();
            let candidates: Vec<Vec<f64>> = (0..CANDIDATES)
                .map(|_| model.good.candidate(&mut same))
                .collect();
            let ratio = |of: &Vec<f64>| naive(l, (of[0], of[1])) / naive(g, (of[0], of[1]));
            let most = candidates.iter().map(ratio).fold(0.0, f64::max);
            let proposed = model.propose(&mut random);
            assert!(candidates.contains(&proposed));
            assert!((ratio(&proposed) / most - 1.0).abs() < 1e-9);
        }
    }
}
