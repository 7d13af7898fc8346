//! Trains models on the sample cluster, and reads the output of `gleaner explain`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

pub use crate::runs::{Run, run};

/// The models, which are trained once for all tests. The workload model uses the estimator "EBM on logarithms".
static MODELS: LazyLock<TempDir> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().to_str().unwrap();
    let data = data();
    let what = ["train", "workload", "packing", "throughput"];
    let options = ["--data", &data, "-o", out, "--estimator", "ebm"];
    run(&[&what[..], &options].concat()).expect(0);
    directory
});

/// The folder of the sample cluster.
pub fn data() -> String {
    gleaner_testing::workspace()
        .join("dataset/cluster")
        .display()
        .to_string()
}

/// The path of the model file.
pub fn model(kind: &str) -> String {
    let path: PathBuf = MODELS.path().join(format!("{kind}.json"));
    path.display().to_string()
}

/// Runs `gleaner explain` on a model.
pub fn explain(kind: &str, more: &[&str]) -> Run {
    run(&[&["explain", &model(kind)], more].concat())
}

/// The explanation of a model as JSON.
#[track_caller]
pub fn json(kind: &str, more: &[&str]) -> Value {
    let run = explain(kind, &[&["--json"], more].concat()).expect(0);
    serde_json::from_str(&run.out).unwrap()
}

/// The breakdown of the prediction for a row of the sample cluster's data, as JSON.
#[track_caller]
pub fn row(kind: &str, row: usize, more: &[&str]) -> Value {
    let (row, data) = (row.to_string(), data());
    let more = [&["--row", &row, "--data", &data], more].concat();
    json(kind, &more)["prediction"].clone()
}

/// A column of the table that `gleaner predict` writes for the sample cluster, as strings.
pub fn predicted(kind: &str, column: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let table = directory.path().join("table.csv");
    let (model, data) = (model(kind), data());
    let out = table.to_str().unwrap();
    run(&["predict", &model, "--data", &data, "-o", out]).expect(0);
    read_column(&table, column)
}

fn read_column(path: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let place = reader.headers().unwrap().iter().position(|h| h == name);
    let rows = reader.records();
    rows.map(|row| row.unwrap()[place.unwrap()].to_owned())
        .collect()
}

/// The numeric field `name` of a JSON object.
#[track_caller]
pub fn number(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap()
}

/// The list in the field `name` of a JSON object.
#[track_caller]
pub fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().unwrap()
}

#[track_caller]
pub fn assert_near(found: f64, expected: f64) {
    let off = (found - expected).abs();
    assert!(
        off <= 1e-6 * (1.0 + expected.abs()),
        "{found}, expected {expected}"
    );
}
