//! Sample jobs: training graphs of random networks, and the resources that their training consumes
//! according to a model of the hardware. With sample jobs, data sets can be built without
//! measurements.
//!
//! The metrics are not measured but computed with the model that [`Setup`] documents, so they are suitable only for
//! examples and tests.

mod cost;
mod family;
mod measure;
mod network;
mod onnx;
mod setup;
mod tensorflow;
mod workload;

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub use setup::Setup;
pub use workload::{Workload, workload};

use crate::graph::METRICS;
use cost::Cost;
use family::{Drawn, Family};
use tensorflow::Optimiser;

/// A job: its training graph and the resources that its training consumes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The name of the job: GPU, data set, model, `Sync` or `Async`, hyperparameters and the number
    /// of the job, joined by `_`.
    pub name: String,
    /// The job's training graph, as the text of a TensorFlow GraphDef.
    pub graph_def: String,
    /// The forward pass of the job's network, as the bytes of an ONNX model without weights.
    pub onnx: Vec<u8>,
    /// The resources that its training consumes, in the order of [`crate::dataset::METRIC_NAMES`].
    /// Times are in seconds, peaks of the GPU in percent, and peaks of the network in MB/s.
    pub measured: [f32; METRICS],
}

/// The first `count` sample jobs for a set-up. The jobs cycle through the families of networks. A
/// job depends on the seed and on its index, not on `count`.
pub fn samples(setup: Setup, seed: u64, count: usize) -> impl Iterator<Item = Sample> {
    (0..count).map(move |index| sample(&setup, seed, index))
}

/// The first line of a file of measurements: the names of its columns.
pub const MEASUREMENTS: &str = "GPU,Data Set,Model,Sync/Async,Hyper-Parameter,Job Name,Resource,\
    avg Idle time,avg Active time,avg Peak consumption\n";

/// The measured resources, in the order of the metrics.
const RESOURCES: [&str; METRICS / 3] = ["GPU MEM util", "GPU util", "Network_rx", "Network_tx"];

impl Sample {
    /// The job's lines in a file of measurements, one for each resource.
    #[must_use]
    pub fn measurements(&self) -> String {
        let fields = self.name.replace('_', ",");
        let (metrics, _) = self.measured.as_chunks::<3>();
        let mut lines = String::new();
        for (resource, [idle, active, peak]) in RESOURCES.iter().zip(metrics) {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{fields},{resource},{idle},{active},{peak}");
        }
        lines
    }
}

/// The job with this index.
fn sample(setup: &Setup, seed: u64, index: usize) -> Sample {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index as u64);
    let Drawn {
        data,
        model,
        batch,
        network,
    } = Family::ALL[index % Family::ALL.len()].draw(None, &mut random);
    let optimiser = Optimiser::ALL[random.random_range(0..Optimiser::ALL.len())];
    let synchronous = random.random_bool(0.5);
    let operations = tensorflow::operations(&network, optimiser);
    let cost = Cost::of(&network, operations, optimiser.tensors());
    let sync = if synchronous { "Sync" } else { "Async" };
    let (gpu, hyper) = (setup.gpu, optimiser.name());
    Sample {
        name: format!("{gpu}_{data}_{model}_{sync}_b{batch}-{hyper}_job{index:04}"),
        graph_def: tensorflow::text(&network, optimiser),
        onnx: onnx::bytes(&network),
        measured: measure::measure(setup, &cost, synchronous, &mut random),
    }
}
