//! Sample jobs for given workloads.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Sample;
use super::cost::Cost;
use super::family::{Drawn, Family};
use super::measure;
use super::setup::Setup;
use super::tensorflow::{self, Optimiser};
use crate::dataset::average_utilisation;

/// A workload: a model, its data and its batch size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload<'a> {
    /// The name of the model. It determines the family of networks:
    ///
    /// - `ResNet50` and similar names: blocks with shortcuts;
    /// - `MobileNetV2`, `EfficientNet`: separable convolutions;
    /// - `BERT`: an encoder;
    /// - `Transformer`, `LSTM`, `GPT`: decoders;
    /// - all other names: plain convolutions.
    pub model: &'a str,
    /// The name of the data set.
    pub data: &'a str,
    /// The number of samples in a batch.
    pub batch: u32,
    /// The average GPU utilisation that the job should have, in percent; `None` for any
    /// utilisation.
    pub utilisation: Option<f64>,
}

/// The number of networks drawn for a workload with a requested utilisation. Of these networks, the
/// one with the closest utilisation is used.
const CANDIDATES: usize = 48;

/// Creates a job that trains a workload on a set-up. `index` is the number in the job's name and
/// determines the job's noise. The network belongs to the model's family and has a random size. If
/// a utilisation is requested, several networks are drawn, and the one whose utilisation is closest
/// to the requested value is used. Utilisations are computed according to the model that [`Setup`]
/// documents. As in all sample jobs, random noise then changes the metrics.
#[must_use]
pub fn workload(setup: &Setup, seed: u64, index: usize, wanted: &Workload<'_>) -> Sample {
    let family = Family::of_model(wanted.model);
    let batch = u64::from(wanted.batch.max(1));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let draws = match wanted.utilisation {
        Some(_) => CANDIDATES,
        None => 1,
    };
    let drawn = (0..draws).map(|_| Candidate::draw(family, batch, setup, &mut random));
    let away = |candidate: &Candidate| {
        let wanted = wanted.utilisation.unwrap_or_default();
        (candidate.utilisation - wanted).abs()
    };
    let closest = drawn.min_by(|a, b| away(a).total_cmp(&away(b)));
    let candidate = closest.unwrap_or_else(|| Candidate::draw(family, batch, setup, &mut random));
    random.set_stream(1 + index as u64);
    let [model, data] = [wanted.model, wanted.data].map(field);
    let (gpu, hyper) = (setup.gpu, candidate.optimiser.name());
    candidate.sample(
        format!("{gpu}_{data}_{model}_Async_b{batch}-{hyper}_job{index:04}"),
        setup,
        &mut random,
    )
}

/// A network, with the cost of its training.
struct Candidate {
    drawn: Drawn,
    optimiser: Optimiser,
    cost: Cost,
    /// The average GPU utilisation, in percent.
    utilisation: f64,
}

impl Candidate {
    fn draw(family: Family, batch: u64, setup: &Setup, random: &mut ChaCha8Rng) -> Self {
        let drawn = family.draw(Some(batch), random);
        let optimiser = Optimiser::ALL[random.random_range(0..Optimiser::ALL.len())];
        let operations = tensorflow::operations(&drawn.network, optimiser);
        let cost = Cost::of(&drawn.network, operations, optimiser.tensors());
        let figures = measure::exact(setup, &cost, false);
        Candidate {
            utilisation: average_utilisation([figures[3], figures[4], figures[5]]),
            drawn,
            optimiser,
            cost,
        }
    }

    fn sample(&self, name: String, setup: &Setup, random: &mut ChaCha8Rng) -> Sample {
        Sample {
            name,
            graph_def: tensorflow::text(&self.drawn.network, self.optimiser),
            onnx: super::onnx::bytes(&self.drawn.network),
            measured: measure::measure(setup, &self.cost, false, random),
        }
    }
}

/// Converts a name to a valid field of a job's name, which is also valid in a file name. Characters
/// other than letters, digits, `.` and `-` become `-`.
fn field(name: &str) -> String {
    let sign = |sign: char| {
        if sign.is_ascii_alphanumeric() || sign == '.' {
            sign
        } else {
            '-'
        }
    };
    if name.is_empty() {
        "-".to_owned()
    } else {
        name.chars().take(64).map(sign).collect()
    }
}
