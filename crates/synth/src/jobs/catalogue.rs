//! A catalogue of workloads, with the GPU load of each workload when it runs alone and in pairs. All numbers are
//! invented.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use gleaner_domain::cluster::GPU_MEMORY;
use gleaner_domain::inputs::{Pair, Profile, ProfileSource, UNMEASURED};
use gleaner_domain::{Usage, Workload};

/// A model at batch size 64 in full precision.
struct Model {
    name: &'static str,
    dataset: &'static str,
    /// Utilisation of compute and of memory bandwidth, in percent.
    util: [f64; 2],
    /// Memory in MB: a fixed amount, and the amount for each sample of a batch.
    memory: [f64; 2],
    /// Samples per second.
    speed: f64,
}

const MODELS: [Model; 10] = [
    model("BERT", "Prose-1M", [97.0, 64.0], [9_000.0, 120.0], 120.0),
    model("ClothSim", "Fabric-3D", [9.0, 4.0], [1_800.0, 4.0], 60.0),
    model(
        "GlyphNet",
        "Tiles-10",
        [52.0, 24.0],
        [1_500.0, 14.0],
        2_900.0,
    ),
    model("NeuMF", "Clicks", [11.0, 3.0], [1_900.0, 0.5], 21_000.0),
    model(
        "PixelVAE",
        "Faces-64",
        [71.0, 38.0],
        [1_700.0, 18.0],
        2_400.0,
    ),
    model(
        "ResNet50",
        "Photos-1k",
        [99.0, 80.0],
        [2_600.0, 85.0],
        430.0,
    ),
    model(
        "RiverLSTM",
        "Prose-1M",
        [82.0, 61.0],
        [2_200.0, 30.0],
        4_300.0,
    ),
    model(
        "SparrowNet",
        "Tiles-10",
        [33.0, 12.0],
        [1_400.0, 10.0],
        1_700.0,
    ),
    model(
        "Transformer",
        "Phrases",
        [68.0, 26.0],
        [11_000.0, 10.0],
        640.0,
    ),
    model("WaveCNN", "Speech-S", [90.0, 55.0], [2_900.0, 44.0], 880.0),
];

const fn model(
    name: &'static str,
    dataset: &'static str,
    util: [f64; 2],
    memory: [f64; 2],
    speed: f64,
) -> Model {
    Model {
        name,
        dataset,
        util,
        memory,
        speed,
    }
}

const BATCH_SIZES: [u32; 2] = [64, 128];

/// The profiles of all models, at both batch sizes, in full and in mixed precision.
pub fn profiles() -> Vec<(Workload, Profile)> {
    let mut profiles = Vec::new();
    for model in &MODELS {
        for batch_size in BATCH_SIZES {
            for amp in [false, true] {
                profiles.push(profile(model, batch_size, amp));
            }
        }
    }
    profiles
}

/// The profile of a model. Larger batches use more of every resource; mixed precision uses less of every
/// resource and is faster.
fn profile(model: &Model, batch_size: u32, amp: bool) -> (Workload, Profile) {
    let batch = f64::from(batch_size) / 64.0;
    let [used, speedup] = if amp { [0.75, 1.25] } else { [1.0, 1.0] };
    let util = model
        .util
        .map(|util| (util * batch.powf(0.35) * used).min(100.0));
    let [base, per_sample] = model.memory;
    let usage = Usage {
        speed: rounded(model.speed * batch.powf(0.6) * speedup),
        gpu_util: rounded(util[0]),
        gmem_util: rounded(util[1]),
        gmem: (base + per_sample * f64::from(batch_size) * used).round(),
    };
    let workload = Workload {
        model: model.name.to_owned(),
        dataset: model.dataset.to_owned(),
        batch_size,
        amp,
    };
    let profile = Profile {
        usage,
        score: Some(score(usage.gpu_util)),
        source: ProfileSource::Measured,
    };
    (workload, profile)
}

/// The sharing score. Workloads with low GPU utilisation share a GPU well and get a low score.
fn score(gpu_util: f64) -> u8 {
    match gpu_util {
        util if util < 40.0 => 0,
        util if util < 75.0 => 1,
        _ => 2,
    }
}

/// Returns all pairs of workloads that fit into a GPU's memory together. Pairs with a model in [`UNMEASURED`] are left
/// out.
pub fn pairs(profiles: &[(Workload, Profile)], rng: &mut ChaCha8Rng) -> Vec<(usize, usize, Pair)> {
    let mut pairs = Vec::new();
    let measured = |index: &usize| !UNMEASURED.contains(&profiles[*index].0.model.as_str());
    for first in (0..profiles.len()).filter(measured) {
        for second in (first..profiles.len()).filter(measured) {
            let usages = [first, second].map(|index| profiles[index].1.usage);
            if usages[0].gmem + usages[1].gmem < GPU_MEMORY {
                pairs.push((first, second, pair(usages, rng)));
            }
        }
    }
    pairs
}

fn pair([first, second]: [Usage; 2], rng: &mut ChaCha8Rng) -> Pair {
    let together = first.gpu_util + second.gpu_util;
    let mut speed = |other: Usage| {
        // Combined demand above 100 % utilisation is lost. A job loses more if the other job's utilisation is higher.
        let lost = (together - 100.0).max(0.0) / 100.0 * other.gpu_util / together;
        let noise = rng.random_range(-0.02..0.02);
        rounded(1.0 - 0.05 * other.gpu_util / 100.0 - lost + noise)
    };
    Pair {
        speeds: (speed(second), speed(first)),
        gpu_util: rounded(together.min(100.0)),
        gmem: first.gmem + second.gmem,
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    // The expected order: the higher the sum of the scores of a pair, the slower the pair is on average.
    #[test]
    fn worse_scores_make_slower_pairs() {
        let profiles = profiles();
        let pairs = pairs(&profiles, &mut ChaCha8Rng::seed_from_u64(1));
        let mut speeds = [const { Vec::new() }; 5];
        for (first, second, pair) in &pairs {
            let score = [first, second].map(|index| profiles[*index].1.score.unwrap());
            let score = score[0] + score[1];
            assert!(pair.speeds.0 > 0.4 && pair.speeds.0 < 1.03, "{pair:?}");
            assert!(pair.gmem < GPU_MEMORY && pair.gpu_util <= 100.0);
            speeds[usize::from(score)].push(pair.speeds.0 + pair.speeds.1);
        }
        let means = speeds.map(|of| of.iter().sum::<f64>() / of.len() as f64);
        assert!(means.is_sorted_by(|a, b| a > b), "{means:?}");
    }

    #[test]
    fn models_with_and_without_measured_pairs_occur() {
        let profiles = profiles();
        let measured =
            |(workload, _): &&(Workload, Profile)| !UNMEASURED.contains(&workload.model.as_str());
        assert_eq!(profiles.iter().filter(measured).count(), 24);
        assert_eq!(profiles.len(), 40);
        assert!(
            [0, 1, 2]
                .iter()
                .all(|score| profiles.iter().any(|p| p.1.score == Some(*score)))
        );
    }
}
