//! The files that each system needs.

use std::path::{Path, PathBuf};

use gleaner_domain::error::{Fault, Faults, Result};
use gleaner_domain::results::reproduce::System;
use gleaner_io::source::Source;
use serde::de::DeserializeOwned;

/// A file in the data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeededFile {
    /// The file's path, relative to the data directory.
    pub path: &'static str,
    /// The content of the file, and its source.
    pub holds: &'static str,
}

const fn needed(path: &'static str, holds: &'static str) -> NeededFile {
    NeededFile { path, holds }
}

/// Files of the Venus trace of September 2020, for the simulations and the models of Lucid.
const VENUS: &[NeededFile] = &[
    needed(
        "lucid/venus_sept/jobs.csv",
        "the jobs of September with the workloads that Lucid's simulator assigns to them",
    ),
    needed(
        "lucid/venus_sept/vc_config.csv",
        "the nodes of each virtual cluster, from Lucid's artifact",
    ),
    needed(
        "lucid/venus_sept/single_data.csv",
        "workloads measured alone, from Lucid's artifact (simulation/analyzer)",
    ),
    needed(
        "lucid/venus_sept/colocate_info.csv",
        "workloads measured in pairs, from Lucid's artifact (simulation/data)",
    ),
    needed(
        "lucid/venus_sept/throughput_pred.csv",
        "the published forecast (Venus_throughput_pred.csv of simulation/predictor)",
    ),
    needed(
        "lucid/venus_sept/duration_estimate_ebm.csv",
        "the published estimates of durations (simulation/estimator/ebm)",
    ),
    needed(
        "lucid/venus_sept/cluster_throughput.csv",
        "submissions per ten minutes since April, from Lucid's artifact (simulation/data/Venus)",
    ),
];

/// The estimates that QSSF needs in our reproduction of Lucid. The reproduction at Sun Yat-sen University does not use
/// them.
const LGB: NeededFile = needed(
    "lucid/venus_sept/duration_estimate_lgb.csv",
    "the published estimates for QSSF (simulation/estimator/lgb)",
);

/// Files for the replays of BFTrainer.
const SUMMIT: &[NeededFile] = &[
    needed(
        "bftrainer/ndstat-10sdn6-evt.tar.gz",
        "the idle nodes of Summit in February 2021, from BFTrainer's replayer",
    ),
    needed(
        "bftrainer/hps-shufflenet-Jbnd-10J.pkl",
        "10 tasks, from BFTrainer's replayer",
    ),
    needed(
        "bftrainer/hps-shufflenet-JNPs-10J.pkl",
        "scaling curves of the 10 tasks",
    ),
    needed(
        "bftrainer/hps-shufflenet-Jbnd-1000J.pkl",
        "1,000 tasks of a search with ShuffleNet, from BFTrainer's replayer",
    ),
    needed(
        "bftrainer/hps-shufflenet-JNPs-1000J.pkl",
        "scaling curves of the 1,000 tasks",
    ),
    needed(
        "bftrainer/ImageNet-imgps-Jbnd-1001J.pkl",
        "1,001 tasks of several models on ImageNet, from BFTrainer's replayer",
    ),
    needed(
        "bftrainer/ImageNet-imgps-JNPs-1001J.pkl",
        "scaling curves of the 1,001 tasks; the objective is images per second",
    ),
    needed(
        "bftrainer/ImageNet-spdup-Jbnd-1001J.pkl",
        "the same 1,001 tasks as in ImageNet-imgps-Jbnd-1001J.pkl",
    ),
    needed(
        "bftrainer/ImageNet-spdup-JNPs-1001J.pkl",
        "scaling curves of the 1,001 tasks; the objective is the speed-up",
    ),
    needed(
        "bftrainer/problems.jsonl",
        "400 states with the optimum of the paper's formulation",
    ),
    needed(
        "bftrainer/reference/hps-10J_nodes100/alloc.jsonl",
        "the allocations of a run of the original replayer",
    ),
    needed(
        "bftrainer/reference/imagenet-spdup_nodes40_max5_tfwd60/alloc.jsonl",
        "the allocations of another run of the original replayer",
    ),
];

/// Files for the outputs and the training runs of Driple.
const INSPECTORS: &[NeededFile] = &[
    needed(
        "driple/pretrained_gcn.safetensors",
        "the published weights of the pre-trained network",
    ),
    needed(
        "driple/gcn_forward.json",
        "graphs, and the outputs of the original's code for these graphs with the published weights",
    ),
    needed(
        "driple/synth_dataset.safetensors",
        "400 generated graphs with labels, on which the original's network was trained",
    ),
    needed(
        "driple/synth_gcn_h64_init.safetensors",
        "the initial weights of the original's training runs",
    ),
];

/// Files about the pilot jobs on Prometheus, for HPC-Whisk.
const PROMETHEUS: &[NeededFile] = &[
    needed(
        "machines/whisk/17_03_2022_idle_nodes.txt",
        "polls of 17 March 2022 that list idle nodes and nodes with pilots, from the repository hpcwhisk/hpcwhisk-artifact",
    ),
    needed(
        "machines/whisk/17_03_2022_slurm-jobs.txt",
        "the pilots of 17 March 2022 (slurm-jobs.txt in the repository hpcwhisk/hpcwhisk-artifact)",
    ),
];

/// The files with Sia's scheduling rounds.
const ROUNDS: &[NeededFile] = &[
    needed(
        "classes/problems.jsonl",
        "90 allocation problems with their optima: 78 recorded in runs of the simulator in siasosp23/artifacts, and 12 larger ones made from them",
    ),
    needed(
        "classes/smooth.jsonl",
        "the problems of problems.jsonl, with their values before rounding",
    ),
];

/// The files that a system needs.
pub fn needed_files(system: System) -> Vec<NeededFile> {
    match system {
        System::Lucid => [VENUS, &[LGB]].concat(),
        System::Sysu => VENUS.to_vec(),
        System::Bftrainer => SUMMIT.to_vec(),
        System::Driple => INSPECTORS.to_vec(),
        System::Hpcwhisk => PROMETHEUS.to_vec(),
        System::Sia => ROUNDS.to_vec(),
    }
}

/// The files that at least one of the systems needs, without duplicates.
pub fn needed_by(systems: &[System]) -> Vec<NeededFile> {
    let mut files: Vec<NeededFile> = Vec::new();
    for file in systems.iter().flat_map(|system| needed_files(*system)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Checks that all files that the systems need exist.
///
/// # Errors
/// Files are missing. The error contains a fault for each missing file.
pub fn check_files(data: &Path, systems: &[System]) -> Result<()> {
    let mut faults = Faults::default();
    for file in needed_by(systems) {
        let path = data.join(file.path);
        if !path.is_file() {
            let fault = Fault::of(&path, "no such file", file.holds);
            faults.push(fault.remedy("use --data to name the directory that contains it"));
        }
    }
    faults.into_result(())
}

/// SHA-256 of the published files, in the format of `sha256sum`.
const PUBLISHED: &str = include_str!("../published.sha256");

/// Returns a warning for each file that differs from the published file. Values computed from a file that differs may
/// also differ.
///
/// # Errors
/// A file cannot be read.
pub fn changed_files(data: &Path, systems: &[System]) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for file in needed_by(systems) {
        let known = PUBLISHED.lines().filter_map(|line| line.split_once("  "));
        let mut known = known.filter(|(_, path)| *path == file.path);
        let Some((digest, _)) = known.next() else {
            continue;
        };
        let path = data.join(file.path);
        if Source::identify(&path)?.sha256.to_string() != digest {
            remarks.push(format!(
                "{}: not the published file (its SHA-256 differs); values computed from it may differ too",
                path.display()
            ));
        }
    }
    Ok(remarks)
}

/// Reads a file with a JSON object on each line.
///
/// # Errors
/// The file cannot be read, or a line does not have the expected form.
pub fn json_lines<T: DeserializeOwned>(path: &Path, expected: &str) -> Result<Vec<T>> {
    let source = Source::open(path)?;
    let bytes = source.read_all()?;
    let lines = serde_json::Deserializer::from_slice(&bytes).into_iter::<T>();
    let read = lines.collect::<Result<Vec<_>, _>>();
    read.map_err(|error| Fault::of(path, error.to_string(), expected).into())
}

/// The data directory.
#[derive(Debug, Clone, Copy)]
pub struct Data<'d>(pub &'d Path);

impl Data<'_> {
    /// The path of a file.
    pub fn file(self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    // Every file contains the 12 bytes `run,work\n1,2\n` instead of the published content.
    #[test]
    fn files_that_are_not_the_published_ones_are_named() {
        let data = tempfile::tempdir().unwrap();
        for file in needed_files(System::Driple) {
            let path = data.path().join(file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "run,work\n1,2\n").unwrap();
        }
        let remarks = changed_files(data.path(), &[System::Driple]).unwrap();
        assert_eq!(remarks.len(), INSPECTORS.len());
        assert!(remarks[0].contains("pretrained_gcn.safetensors: not the published file"));
        if let Some(published) = gleaner_testing::shared("driple") {
            let data = published.parent().unwrap();
            assert_eq!(
                changed_files(data, &[System::Driple]).unwrap(),
                Vec::<String>::new()
            );
        }
    }
}
