//! Distributions of numbers.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::normal::{cdf, quantile};
use crate::Fault;

/// Largest magnitude of a parameter. The limit keeps sums and products of draws finite.
pub(super) const LARGEST: f64 = 1e100;

/// The distribution from which a number is drawn.
///
/// In files: `{ "uniform": { "low": 1, "high": 3 } }`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Uniform between two numbers.
    Uniform {
        /// The smallest possible value.
        low: f64,
        /// The largest possible value.
        high: f64,
    },
    /// Log-uniform between two numbers above 0.
    LogUniform {
        /// The smallest possible value.
        low: f64,
        /// The largest possible value.
        high: f64,
    },
    /// A normal distribution.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation, at least 0.
        deviation: f64,
    },
}

impl Draw {
    /// Draws a number. Each kind of distribution takes two draws from `random`, so that later draws do
    /// not depend on the kind.
    pub(crate) fn from(self, random: &mut ChaCha8Rng) -> f64 {
        let (first, second): (f64, f64) = (random.random(), random.random());
        match self {
            Draw::Uniform { low, high } => between(low, high, first),
            Draw::LogUniform { low, high } => {
                let drawn = between(low.ln(), high.ln(), first).exp();
                drawn.max(low).min(high)
            }
            Draw::Normal { mean, deviation } => mean + deviation * normal(first, second),
        }
    }

    /// The value below which a draw lies with this probability (0 to 1).
    pub(crate) fn quantile(self, probability: f64) -> f64 {
        match self {
            Draw::Uniform { low, high } => between(low, high, probability),
            Draw::LogUniform { low, high } => {
                let value = between(low.ln(), high.ln(), probability).exp();
                value.max(low).min(high)
            }
            Draw::Normal { mean, deviation } => mean + deviation * quantile(probability),
        }
    }

    /// Probability (0 to 1) that a draw is below `value`. If all draws are equal, the result is 0.5.
    pub(crate) fn cdf(self, value: f64) -> f64 {
        let part = match self {
            Draw::Uniform { low, high } => (value - low) / (high - low),
            Draw::LogUniform { low, high } => (value / low).ln() / (high / low).ln(),
            Draw::Normal { mean, deviation } => cdf((value - mean) / deviation),
        };
        if part.is_nan() {
            0.5
        } else {
            part.clamp(0.0, 1.0)
        }
    }

    /// The nearest value that can be drawn. A normal distribution has no limits.
    pub(crate) fn within(self, value: f64) -> f64 {
        match self {
            Draw::Uniform { low, high } | Draw::LogUniform { low, high } => {
                value.max(low).min(high)
            }
            Draw::Normal { .. } => value,
        }
    }

    /// The faults in the distribution's fields. If `least` is given, it is a lower bound on `low`.
    pub(crate) fn faults(self, field: &str, least: Option<f64>) -> Vec<Fault> {
        match self {
            Draw::Uniform { low, high } => {
                range_faults(&format!("{field}.uniform"), low, high, least)
            }
            Draw::LogUniform { low, high } => {
                let field = format!("{field}.log-uniform");
                range_faults(&field, low, high, Some(f64::MIN_POSITIVE))
            }
            Draw::Normal { mean, deviation } => {
                let mean = number_fault(&format!("{field}.normal.mean"), mean, None);
                let field = format!("{field}.normal.deviation");
                let deviation = number_fault(&field, deviation, Some(0.0));
                mean.into_iter().chain(deviation).collect()
            }
        }
    }
}

/// Converts two uniform numbers in [0, 1) to a standard normal number by the method of Box and Muller
/// (1958).
pub(super) fn normal(first: f64, second: f64) -> f64 {
    (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos()
}

/// Interpolates between `low` and `high`. Limits the result to this range, because rounding could produce a number
/// outside it. (`clamp` would panic if the range were reversed.)
fn between(low: f64, high: f64, part: f64) -> f64 {
    (low * (1.0 - part) + high * part).max(low).min(high)
}

fn range_faults(field: &str, low: f64, high: f64, least: Option<f64>) -> Vec<Fault> {
    let (low_field, high_field) = (format!("{field}.low"), format!("{field}.high"));
    let mut faults: Vec<Fault> = number_fault(&low_field, low, least).into_iter().collect();
    let fault = number_fault(&high_field, high, least);
    let reversed = faults.is_empty() && fault.is_none() && high < low;
    faults.extend(fault);
    if reversed {
        let expected = format!("at least {low_field}, which is {low}");
        faults.push(Fault::new(high_field, high, expected));
    }
    faults
}

/// The fault in a number that must be finite, not too large, and at least `least`; `None` if it is
/// valid.
pub(super) fn number_fault(field: &str, value: f64, least: Option<f64>) -> Option<Fault> {
    let least = least.unwrap_or(-LARGEST);
    if (least..=LARGEST).contains(&value) {
        return None;
    }
    let expected = if least == f64::MIN_POSITIVE {
        format!("a number above 0 and at most {LARGEST:e}")
    } else if least == -LARGEST {
        format!("a number between -{LARGEST:e} and {LARGEST:e}")
    } else {
        format!("a number of at least {least} and at most {LARGEST:e}")
    };
    Some(Fault::new(field, value, expected))
}
