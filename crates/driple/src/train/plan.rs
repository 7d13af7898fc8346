//! The plan of a training run, and the schedule of its learning rate.

use serde::{Deserialize, Serialize};

use crate::model::{READOUT_LAYERS, REPEATED};
use crate::nn::Adam;

/// The change of the learning rate over the steps of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The learning rate does not change.
    Constant,
    /// The learning rate rises linearly over the first epochs. Then it falls to 1 % of its maximum,
    /// following half a cosine wave (Loshchilov and Hutter 2017).
    Cosine,
}

/// The number of epochs over which the rate of the cosine schedule rises.
const WARM_UP: f64 = 5.0;

impl Schedule {
    /// The factor that multiplies the learning rate at step `step`, in a training run of `epochs`
    /// epochs with `steps` steps each. Steps are numbered from 0. For example, let the cosine
    /// schedule have 100 epochs with one step each. The factor is then 0.2 at step 0, 1 at step 4
    /// and 0.01 at step 99.
    #[must_use]
    pub fn share(self, step: u64, steps: usize, epochs: usize) -> f64 {
        let (step, steps, epochs) = (step as f64, steps as f64, epochs as f64);
        // In short training runs, the rate rises for at most a tenth of the epochs.
        let rise = (WARM_UP.min(epochs / 10.0) * steps).max(1.0);
        match self {
            Self::Constant => 1.0,
            Self::Cosine if step + 1.0 < rise => (step + 1.0) / rise,
            Self::Cosine => {
                let fall = (steps * epochs - rise).max(1.0);
                let angle = std::f64::consts::PI * ((step + 1.0 - rise) / fall).min(1.0);
                0.01 + 0.99 * 0.5 * (1.0 + angle.cos())
            }
        }
    }
}

/// The parameters that training updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learns {
    /// All parameters.
    All,
    /// The parameters of the readout's linear layers. The rest of the network does not change. This choice suits the
    /// transfer of an inspector to a new set-up.
    Readout,
    /// The parameters of the readout's linear layers and of the repeated convolution.
    ReadoutAndConvolution,
}

impl Learns {
    /// Whether training updates the parameter with this name.
    #[must_use]
    pub fn learns(self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Readout => name.starts_with(READOUT_LAYERS),
            Self::ReadoutAndConvolution => {
                name.starts_with(READOUT_LAYERS) || name.starts_with(REPEATED)
            }
        }
    }
}

/// The plan of a training run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The maximum number of passes over the training batches.
    pub epochs: usize,
    /// Training stops after this number of consecutive epochs without a lower error on the
    /// validation set, or on the training set if there is no validation set. `None` to run all
    /// epochs.
    pub patience: Option<usize>,
    /// The learning rate of Adam, before it is multiplied by the factor of the schedule.
    pub learning_rate: f64,
    /// The weight decay: this fraction of each weight is added to the weight's gradient.
    pub weight_decay: f64,
    /// The schedule of the learning rate.
    pub schedule: Schedule,
    /// The parameters that training updates.
    pub learns: Learns,
}

impl Default for Plan {
    fn default() -> Self {
        let Adam {
            learning_rate,
            weight_decay,
            ..
        } = Adam::default();
        let schedule = Schedule::Cosine;
        Self {
            epochs: 150,
            patience: None,
            learning_rate,
            weight_decay,
            schedule,
            learns: Learns::All,
        }
    }
}

impl Plan {
    /// The optimiser for step `step` of a training run with `steps` steps per epoch. Steps are
    /// numbered from 0.
    #[must_use]
    pub fn optimiser(&self, step: u64, steps: usize) -> Adam {
        let learning_rate = self.learning_rate * self.schedule.share(step, steps, self.epochs);
        Adam {
            learning_rate,
            weight_decay: self.weight_decay,
            ..Adam::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected factors follow from the schedule's formula: the rate rises over the first 40 of
    // 1,200 steps.
    #[test]
    fn cosine_rises_and_falls_to_a_hundredth() {
        let share = |step| Schedule::Cosine.share(step, 8, 150);
        assert!((share(0) - 1.0 / 40.0).abs() < 1e-12);
        assert!((share(19) - 0.5).abs() < 1e-12);
        assert!((share(39) - 1.0).abs() < 1e-12);
        assert!((share(619) - 0.505).abs() < 1e-3);
        assert!((share(1199) - 0.01).abs() < 1e-12);
        assert!((0..1199).skip(39).all(|step| share(step) > share(step + 1)));
    }

    #[test]
    fn the_cosine_schedule_stays_between_zero_and_one() {
        for epochs in 1..20 {
            for step in 0..3 * epochs as u64 {
                let share = Schedule::Cosine.share(step, 3, epochs);
                assert!(share > 0.0 && share <= 1.0, "{epochs} {step}: {share}");
            }
        }
    }
}
