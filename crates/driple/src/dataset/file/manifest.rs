//! The manifest of a data set, which is stored in the same file as the data.

use serde::{Deserialize, Serialize};

use super::DatasetError;
use super::name::PARTS;
use crate::dataset::{Batches, Dataset, METRIC_NAMES, split};
use crate::features::Frequencies;
use crate::group;

/// The manifest version that this program writes. The program also reads earlier versions.
const VERSION: u32 = 1;

/// The origin of a data set. All fields are empty for a file without a manifest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The settings with which operations were grouped; `None` if unknown.
    pub grouping: Option<group::Settings>,
    /// The settings with which jobs were split; `None` if unknown.
    pub split: Option<split::Settings>,
    /// The frequencies of operation types from which the features were computed; `None` if unknown.
    /// The features of graphs for predictions must be computed from the same frequencies.
    pub frequencies: Option<Frequencies>,
    /// The path of the file with the measurements; `None` if unknown.
    pub measurements: Option<String>,
    /// One entry for each graph in the data.
    pub sources: Vec<Source>,
    /// The jobs that were left out of the data, each with a reason.
    pub left_out: Vec<LeftOut>,
}

/// The origin of one graph in the data set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Source {
    /// The name of the job.
    pub job: String,
    /// The path of the file with the graph.
    pub file: String,
    /// The report on the grouping of the graph's operations.
    pub report: group::Report,
}

/// A job that was left out of the data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftOut {
    /// The name of the job.
    pub job: String,
    /// The reason why the job was left out.
    pub reason: String,
}

/// The manifest as stored in the file. It also lists the metrics, the number of graphs in each part
/// and the names of the jobs. The reader checks that these match the data.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    labels: Vec<String>,
    /// The number of graphs in each part.
    sizes: Parts<usize>,
    /// The names of the jobs in each batch.
    jobs: Parts<Vec<Vec<String>>>,
    #[serde(flatten)]
    manifest: Manifest,
}

#[derive(Serialize, Deserialize)]
struct Parts<T> {
    train: T,
    val: T,
    test: T,
}

impl<T> Parts<T> {
    fn of(data: &Dataset, value: impl Fn(&Batches) -> T) -> Self {
        Parts {
            train: value(&data.train),
            val: value(&data.val),
            test: value(&data.test),
        }
    }

    fn each(&self) -> [&T; 3] {
        [&self.train, &self.val, &self.test]
    }
}

/// The manifest and the names of the jobs in `data`, as JSON.
pub(super) fn to_json(manifest: &Manifest, data: &Dataset) -> Result<String, DatasetError> {
    let names = |batch: &Vec<_>| batch.iter().map(job_name).collect();
    let stored = Stored {
        version: VERSION,
        labels: METRIC_NAMES.map(str::to_owned).to_vec(),
        sizes: Parts::of(data, graphs),
        jobs: Parts::of(data, |batches| batches.iter().map(names).collect()),
        manifest: manifest.clone(),
    };
    serde_json::to_string(&stored).map_err(|error| DatasetError::Write(error.to_string()))
}

fn job_name(example: &crate::dataset::Example) -> String {
    example.name.clone()
}

fn graphs(batches: &Batches) -> usize {
    batches.iter().map(Vec::len).sum()
}

/// Parses a manifest, checks that it describes `data`, and sets the names of the examples.
pub(super) fn from_json(json: &str, data: &mut Dataset) -> Result<Manifest, DatasetError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let wrong = |error: serde_json::Error| DatasetError::Manifest(error.to_string());
    let Version { version } = serde_json::from_str(json).map_err(wrong)?;
    if version > VERSION {
        return Err(DatasetError::Version(version, VERSION));
    }
    let stored: Stored = serde_json::from_str(json).map_err(wrong)?;
    stored.check(data)?;
    let Parts { train, val, test } = stored.jobs;
    name(&mut data.train, train);
    name(&mut data.val, val);
    name(&mut data.test, test);
    Ok(stored.manifest)
}

fn name(batches: &mut Batches, names: Vec<Vec<String>>) {
    let examples = batches.iter_mut().flatten();
    for (example, name) in examples.zip(names.into_iter().flatten()) {
        example.name = name;
    }
}

impl Stored {
    /// Checks that the manifest describes `data`: the metrics, the number of graphs in each part
    /// and the number of jobs in each batch must match.
    fn check(&self, data: &Dataset) -> Result<(), DatasetError> {
        if self.labels != METRIC_NAMES {
            let fault = format!(
                "the labels are {:?}, expected {METRIC_NAMES:?}",
                self.labels
            );
            return Err(DatasetError::Manifest(fault));
        }
        let found = Parts::of(data, |batches| {
            batches.iter().map(Vec::len).collect::<Vec<_>>()
        });
        let told = self.sizes.each().into_iter().zip(self.jobs.each());
        for ((part, found), (&size, jobs)) in PARTS.iter().zip(found.each()).zip(told) {
            if size != found.iter().sum::<usize>() {
                let fault =
                    format!("{part} has {found:?} graphs in its batches, expected {size} in total");
                return Err(DatasetError::Manifest(fault));
            }
            if !jobs.iter().map(Vec::len).eq(found.iter().copied()) {
                let fault = format!("{part} does not have exactly one job for each of its graphs");
                return Err(DatasetError::Manifest(fault));
            }
        }
        Ok(())
    }
}
