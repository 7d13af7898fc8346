//! Lucid's Packing Analyze Model. It predicts how well a job shares its GPUs, as a score of 0
//! (well), 1 or 2 (badly). The prediction comes from a pruned decision tree. The features of the
//! tree describe the job's workload: its GPU usage when it runs alone, and whether it uses mixed
//! precision.
//!
//! The training scores are set by hand. Measured pairs of workloads give a second score,
//! [`Shared::score`]. The published model uses this score, and the speed from which it is computed,
//! as features: [`Features::WithPairs`]. Both are unknown for a new workload until it is measured
//! together with other workloads. The purpose of the model is to avoid such measurements, so the
//! default is [`Features::Profile`], which uses neither feature.

mod evaluate;
mod model;

pub use evaluate::{Evaluation, Spread, agreement, evaluate};
pub use model::{PackingModel, SETTINGS};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Usage;
use crate::Table;

/// A training workload: the model, its data set, its batch size and its precision.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    /// Name of the model that is trained.
    pub model: String,
    /// Name of the data set that the model is trained on.
    pub dataset: String,
    /// Number of samples in a batch.
    pub batch_size: u32,
    /// Whether training uses mixed precision.
    pub amp: bool,
}

/// A workload that was measured alone and scored by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The workload that was measured and scored.
    pub workload: Workload,
    /// The workload's GPU usage when it runs alone.
    pub usage: Usage,
    /// The workload's sharing score, set by hand: 0, 1 or 2.
    pub score: u8,
}

/// Two workloads that were measured while they shared a GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The two workloads, which can be the same.
    pub workloads: [Workload; 2],
    /// The speed of each workload, as a share of its speed when it runs alone.
    pub speeds: [f64; 2],
}

/// The speed of a workload when it shares a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Shared {
    /// The workload's mean speed in the measured pairs, as a share of its speed when it runs alone.
    /// It is rounded to three decimals, and is 0 if there are no pairs.
    pub speed: f64,
    /// Number of measurements. A pair of the workload with itself counts twice.
    pub pairs: usize,
}

impl Shared {
    /// The sharing score that follows from the speed: 2 below 0.85, 1 from 0.85 to below 0.95, and
    /// 0 otherwise. If there are no pairs, the score is 2.
    pub fn score(&self) -> u8 {
        match self.speed {
            slow if slow < 0.85 => 2,
            slower if slower < 0.95 => 1,
            _ => 0,
        }
    }
}

/// Returns the mean speed of each profiled workload over all measured pairs that contain it,
/// whether as the first or as the second workload.
pub fn shared(profiles: &[Profile], pairs: &[Pair]) -> Vec<Shared> {
    let mut sums: BTreeMap<&Workload, (f64, usize)> = BTreeMap::new();
    for pair in pairs {
        for (workload, speed) in pair.workloads.iter().zip(pair.speeds) {
            let (sum, count) = sums.entry(workload).or_default();
            *sum += speed;
            *count += 1;
        }
    }
    let of = |profile: &Profile| match sums.get(&profile.workload) {
        Some(&(sum, pairs)) => Shared {
            speed: thousandths(sum / pairs as f64),
            pairs,
        },
        None => Shared::default(),
    };
    profiles.iter().map(of).collect()
}

/// Rounds a speed to three decimals, as numpy does.
fn thousandths(speed: f64) -> f64 {
    (speed * 1000.0).round_ties_even() / 1000.0
}

/// The features from which a score is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The workload's profile alone.
    #[default]
    Profile,
    /// As published: the profile, the mean speed in pairs, and the score that follows from this
    /// speed. The last two features largely reveal the score that the tree is meant to predict.
    WithPairs,
}

const NAMES: [&str; 6] = [
    "amp",
    "gpu_util",
    "gmem_util",
    "gmem",
    "avg_speed",
    "auto_label",
];

impl Features {
    /// Names of the features, in order.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Features::Profile => &NAMES[..4],
            Features::WithPairs => &NAMES,
        }
    }

    /// The table of features, with one row per profile. `shared` holds the measurements of each
    /// profile.
    pub fn table(self, profiles: &[Profile], shared: &[Shared]) -> Table {
        let rows = profiles.iter().zip(shared);
        let rows: Vec<_> = rows
            .map(|(profile, shared)| row(profile.workload.amp, &profile.usage, shared))
            .collect();
        let table = Table::of_rows(NAMES, &rows);
        table.select(|name| self.names().contains(&name))
    }
}

/// The hand-set sharing scores of the profiles.
fn scores(profiles: &[Profile]) -> Vec<u8> {
    profiles.iter().map(|profile| profile.score).collect()
}

/// The values of all features, in the order of [`NAMES`].
fn row(amp: bool, usage: &Usage, shared: &Shared) -> [f64; NAMES.len()] {
    [
        f64::from(u8::from(amp)),
        usage.gpu_util,
        usage.gmem_util,
        usage.gmem,
        shared.speed,
        f64::from(shared.score()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(model: &str) -> Workload {
        Workload {
            model: model.to_owned(),
            dataset: "CIFAR-10".to_owned(),
            batch_size: 64,
            amp: false,
        }
    }

    // A workload's speed is averaged over the pairs in which it is first and the pairs in which it
    // is second.
    #[test]
    fn speeds_are_averaged_over_both_roles() {
        let profile = |model| Profile {
            workload: workload(model),
            usage: Usage {
                gpu_util: 50.0,
                gmem_util: 20.0,
                gmem: 3000.0,
            },
            score: 0,
        };
        let pair = |first, second, speeds| Pair {
            workloads: [workload(first), workload(second)],
            speeds,
        };
        let pairs = [
            pair("A", "B", [1.0, 0.8]),
            pair("B", "A", [0.75, 0.9]),
            pair("A", "A", [0.9, 0.9]),
        ];
        let shared = shared(&["A", "B", "C"].map(profile), &pairs);
        let expected = |speed, pairs| Shared { speed, pairs };
        assert_eq!(shared[0], expected(0.925, 4));
        assert_eq!(shared[1], expected(0.775, 2));
        assert_eq!(shared[2], expected(0.0, 0));
        assert_eq!(
            [0, 1, 2].map(|index: usize| shared[index].score()),
            [1, 2, 2]
        );
    }

    #[test]
    fn scores_change_at_their_bounds() {
        let score = |speed| Shared { speed, pairs: 1 }.score();
        assert_eq!([0.849, 0.85, 0.949, 0.95, 1.1].map(score), [2, 1, 1, 0, 0]);
        // Ties are rounded to the even thousandth.
        assert_eq!([0.0625, 0.1875].map(thousandths), [0.062, 0.188]);
    }
}
