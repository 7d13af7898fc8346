//! Sample jobs of workloads that are given: their model, their data and the samples of a batch.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Sample;
use super::cost::Cost;
use super::family::{Drawn, Family};
use super::measure;
use super::setup::Setup;
use super::tensorflow::{self, Optimiser};
use crate::dataset::average_utilisation;

/// What a job trains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload<'a> {
    /// The name of the model, which tells the family of networks: `ResNet50` and the like are of
    /// blocks with shortcuts, `MobileNetV2`, `EfficientNet` of separable convolutions, `BERT` an
    /// encoder, `Transformer`, `LSTM`, `GPT` decoders; all others are plain convolutions.
    pub model: &'a str,
    /// The name of the data set.
    pub data: &'a str,
    /// The samples of a batch.
    pub batch: u32,
    /// The average GPU utilisation that the job is to have, in percent; `None` for any.
    pub utilisation: Option<f64>,
}

/// How many networks are drawn for a workload, of which the one that comes closest to the
/// utilisation is taken.
const CANDIDATES: usize = 48;

/// A job of a workload on a set-up, the `index`-th of its data set: a network of the model's family,
/// of random size, whose utilisation by the documented model of the set-up comes closest to the one
/// that is asked for. Its figures have the noise of other samples.
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

/// A network and what its training takes.
struct Candidate {
    drawn: Drawn,
    optimiser: Optimiser,
    cost: Cost,
    /// In percent.
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

/// A name as a field of a job's name, and of a file's: other signs than letters, digits, `.` and `-`
/// become `-`.
fn field(name: &str) -> String {
    let sign = |sign: char| match sign.is_ascii_alphanumeric() || sign == '.' {
        true => sign,
        false => '-',
    };
    match name.is_empty() {
        true => "-".to_owned(),
        false => name.chars().take(64).map(sign).collect(),
    }
}
