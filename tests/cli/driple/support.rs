//! Creates directories with small jobs, data sets and models.

use std::fs;
use std::path::{Path, PathBuf};

use gleaner_driple::dataset::Dataset;
use gleaner_driple::dataset::file::{self, Manifest};
use gleaner_driple::inspector::{self, Inspector};
use serde_json::Value;
use tempfile::TempDir;

pub use crate::runs::{Run, command, gleaner};

/// Options for a network that trains very quickly.
pub const TINY: &str = "--hidden 8 --depth 3 --quiet";

/// A directory with 24 jobs in `jobs`.
pub fn jobs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    gleaner(directory.path(), "synth graphs --count 24 -o jobs").expect(0);
    directory
}

/// The command that builds a data set from the jobs of [`jobs`], with 20 groups per graph.
pub const BUILD: &str =
    "driple build --graphs jobs/graphs --measured jobs/measured.csv --groups 20 --batch 8";

/// The directory of [`jobs`], with the data set `data.safetensors`.
pub fn built() -> TempDir {
    let directory = jobs();
    gleaner(directory.path(), &format!("{BUILD} -o data.safetensors")).expect(0);
    directory
}

/// The directory of [`built`], with the model `model.safetensors`.
pub fn trained() -> TempDir {
    let directory = built();
    let line =
        format!("driple train --data data.safetensors {TINY} --epochs 3 -o model.safetensors");
    gleaner(directory.path(), &line).expect(0);
    directory
}

/// Changes the model in `model.safetensors`.
pub fn change_model(directory: &Path, change: impl FnOnce(&mut Inspector)) {
    let path = directory.join("model.safetensors");
    let mut inspector = inspector::read(&fs::read(&path).unwrap()).unwrap();
    change(&mut inspector);
    fs::write(path, inspector::write(&inspector).unwrap()).unwrap();
}

/// Sets the biases of the readout's last layer, so that the model predicts about `bias` times the scale.
pub fn set_bias(inspector: &mut Inspector, bias: f32) {
    let parameters = &mut inspector.parameters;
    let last = "graph_read_out.mlp.fully_connected.2.linear.bias";
    let id = parameters.ids().find(|id| parameters.name(*id) == last);
    parameters[id.unwrap()].fill(bias);
}

pub fn read(directory: &Path, name: &str) -> (Dataset, Manifest) {
    file::read(&fs::read(directory.join(name)).unwrap()).unwrap()
}

/// The graph files in a directory, in the order of their names.
pub fn graphs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// All numbers of a JSON value, in document order.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}
