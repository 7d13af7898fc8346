//! Learning curves: the loss of a trial as a function of its training.

mod draw;
mod family;
mod normal;
mod table;

pub use draw::Draw;
pub use family::{Curve, Family};
pub(crate) use normal::{cdf, quantile};
pub use table::{Point, Table};

/// The losses of all trials. A loss depends only on the trial and the resource. Every search therefore sees the same
/// trials, regardless of the order and the times of its jobs.
#[derive(Debug, Clone, PartialEq)]
pub enum LearningCurves {
    /// Curves drawn from distributions, for any number of trials.
    Family(Family),
    /// Measured curves.
    Table(Table),
}

impl LearningCurves {
    /// The loss measured after a trial has consumed `resource`, which is at least 0 and in the unit of the plan. NaN
    /// for a trial that is not in the table.
    pub fn loss(&self, trial: u32, resource: f64) -> f64 {
        self.true_loss(trial, resource) + self.noise(trial, resource)
    }

    /// The loss without noise, for computing regrets. The losses of a table are measured, so this method returns the
    /// same losses as [`LearningCurves::loss`].
    pub fn true_loss(&self, trial: u32, resource: f64) -> f64 {
        self.true_loss_at(trial, resource, None)
    }

    /// The noise-free loss of a trial whose floor has this rank in a family (see [`Family::curve`]).
    pub(crate) fn true_loss_at(&self, trial: u32, resource: f64, rank: Option<f64>) -> f64 {
        match self {
            LearningCurves::Family(family) => family.at(&family.curve(trial, rank), resource),
            LearningCurves::Table(table) => table.loss(trial, resource),
        }
    }

    /// The noise in a measured loss. It is 0 for the losses of a table, which include their noise.
    pub fn noise(&self, trial: u32, resource: f64) -> f64 {
        match self {
            LearningCurves::Family(family) => family.noise(trial, resource),
            LearningCurves::Table(_) => 0.0,
        }
    }

    /// The same curves, drawn with another seed. Measured curves stay the same.
    pub fn seeded(mut self, seed: u64) -> Self {
        if let LearningCurves::Family(family) = &mut self {
            family.seed = seed;
        }
        self
    }

    /// The family from which the curves are drawn; `None` if they were measured.
    pub(crate) fn family(&self) -> Option<&Family> {
        match self {
            LearningCurves::Family(family) => Some(family),
            LearningCurves::Table(_) => None,
        }
    }

    /// The number of trials, which are numbered from 0. `None` if curves can be drawn for any number of
    /// trials.
    pub fn trials_known(&self) -> Option<u32> {
        match self {
            LearningCurves::Family(_) => None,
            LearningCurves::Table(table) => Some(table.trials()),
        }
    }
}
