//! A family of learning curves, drawn with a seed.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::draw::{Draw, normal, number_fault};
use crate::Fault;
use crate::random::{Purpose, stream};

/// Learning curves that follow power laws, one for each trial:
///
/// ```text
/// loss(x) = floor + amplitude · (1 + x / scale)^(-rate)
/// ```
///
/// where x is the resource. An untrained trial has the loss floor + amplitude, and its loss approaches the floor as
/// training continues. Hestness et al., "Deep Learning Scaling is Predictable, Empirically" (2017, arXiv:1712.00409),
/// find a power law above a floor for the loss as a function of the amount of data. Domhan et al., "Speeding Up
/// Automatic Hyperparameter Optimization of Deep Neural Networks by Extrapolation of Learning Curves" (IJCAI 2015), use
/// the shifted power law (their pow4), among others, for the loss as a function of the epochs.
///
/// The floor, amplitude and rate of a trial are drawn independently of each other. Therefore, a trial whose loss falls
/// fast at first can end with a higher loss than a trial whose loss falls slowly. Early losses are only a rough
/// guide to final losses. The default ranges are assumed, not measured.
///
/// The draws of a trial depend only on the seed and the trial. A measurement adds noise that depends only on
/// the seed, the trial and the resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Family {
    /// Seed of all draws (default: 0).
    pub seed: u64,
    /// The loss that unlimited training would approach (default: log-uniform from 0.1 to 1).
    pub floor: Draw,
    /// The difference between the loss of an untrained trial and the floor (default: uniform from 1 to 3). A negative
    /// draw counts as 0.
    pub amplitude: Draw,
    /// The exponent, which determines how fast the loss falls (default: log-uniform from 0.2 to 1). A negative draw
    /// counts as 0.
    pub rate: Draw,
    /// The resource above which the curve is close to a power law, in the unit of the plan; above 0 (default: 1).
    pub scale: f64,
    /// Standard deviation of the measurement noise, which is normal with a mean of 0; at least 0 (default: 0.01). A
    /// noisy loss can be negative.
    pub noise: f64,
}

impl Default for Family {
    fn default() -> Self {
        Family {
            seed: 0,
            floor: Draw::LogUniform {
                low: 0.1,
                high: 1.0,
            },
            amplitude: Draw::Uniform {
                low: 1.0,
                high: 3.0,
            },
            rate: Draw::LogUniform {
                low: 0.2,
                high: 1.0,
            },
            scale: 1.0,
            noise: 0.01,
        }
    }
}

/// The curve of one trial of a [`Family`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// The loss that unlimited training would approach.
    pub floor: f64,
    /// The difference between the loss of an untrained trial and the floor, at least 0.
    pub amplitude: f64,
    /// The exponent, at least 0.
    pub rate: f64,
}

impl Family {
    /// Checks the parameters.
    ///
    /// # Errors
    /// A parameter is invalid. Returns all faults.
    pub fn validate(&self) -> Result<(), Vec<Fault>> {
        let mut faults = self.floor.faults("floor", None);
        faults.extend(self.amplitude.faults("amplitude", Some(0.0)));
        faults.extend(self.rate.faults("rate", Some(0.0)));
        faults.extend(number_fault("scale", self.scale, Some(f64::MIN_POSITIVE)));
        faults.extend(number_fault("noise", self.noise, Some(0.0)));
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    /// The curve of a trial. `rank`, between 0 and 1, is the rank of its floor among all trials, from the lowest floor to
    /// the highest. If `rank` is `None`, the floor is drawn at random.
    pub fn curve(&self, trial: u32, rank: Option<f64>) -> Curve {
        let mut random = stream(self.seed, Purpose::Curve, 0, trial);
        let drawn = self.floor.from(&mut random);
        Curve {
            floor: rank.map_or(drawn, |rank| self.floor.quantile(rank)),
            amplitude: self.amplitude.from(&mut random).max(0.0),
            rate: self.rate.from(&mut random).max(0.0),
        }
    }

    /// The loss of a curve after this resource, without noise.
    pub(crate) fn at(&self, curve: &Curve, resource: f64) -> f64 {
        curve.floor + curve.amplitude * (1.0 + resource / self.scale).powf(-curve.rate)
    }

    /// The noise of a measurement of a trial after this resource.
    pub(crate) fn noise(&self, trial: u32, resource: f64) -> f64 {
        let mut random = stream(self.seed, Purpose::Noise, resource.to_bits(), trial);
        self.noise * normal(random.random(), random.random())
    }

    /// The loss of a trial after this resource, without noise. The floor is drawn at random.
    pub fn true_loss(&self, trial: u32, resource: f64) -> f64 {
        self.at(&self.curve(trial, None), resource)
    }

    /// The measured loss of a trial after this resource, with noise. The floor is drawn at random.
    pub fn loss(&self, trial: u32, resource: f64) -> f64 {
        self.true_loss(trial, resource) + self.noise(trial, resource)
    }
}
