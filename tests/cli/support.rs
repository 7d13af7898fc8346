//! Runs the program and reads its results.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

pub use crate::runs::{Run, command, gleaner};

pub fn with_stdin(directory: &Path, line: &str, text: &str) -> Run {
    fs::write(directory.join("stdin"), text).unwrap();
    let stdin = fs::File::open(directory.join("stdin")).unwrap();
    command(directory, line)
        .stdin(stdin)
        .output()
        .unwrap()
        .into()
}

/// A directory with sample logs, tasks and problems from dataset/.
pub fn samples() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "idle.csv",
        "tasks.toml",
        "problems.jsonl",
        "class-problems.jsonl",
    ] {
        fs::copy(dataset().join(name), directory.path().join(name)).unwrap();
    }
    directory
}

/// A directory with the sample logs of schedulers from dataset/logs.
pub fn logs() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(dataset().join("logs")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), directory.path().join(entry.file_name())).unwrap();
    }
    directory
}

pub fn dataset() -> PathBuf {
    gleaner_testing::workspace().join("dataset")
}

pub fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The names and contents of a run's files, except the files that contain wall times.
pub fn stable_files(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|e| {
            (
                e.file_name().into_string().unwrap(),
                fs::read(e.path()).unwrap(),
            )
        })
        .filter(|(name, _)| name != "run.json" && !name.starts_with("timings"))
        .collect();
    files.sort();
    files
}

/// A directory with the sample cluster from dataset/ in the folder `trace`.
pub fn cluster() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    fs::create_dir(&trace).unwrap();
    for entry in fs::read_dir(dataset().join("cluster")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), trace.join(entry.file_name())).unwrap();
    }
    directory
}

/// Changes the cells of one line of a CSV file without quotes. Lines are counted from 1.
pub fn change_line(file: &Path, line: usize, change: impl FnOnce(&mut Vec<String>)) {
    let text = fs::read_to_string(file).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut cells = lines[line - 1].split(',').map(str::to_owned).collect();
    change(&mut cells);
    lines[line - 1] = cells.join(",");
    fs::write(file, lines.join("\n") + "\n").unwrap();
}

/// The arguments of a simulation that uses the tables of `gleaner profile` in the folder `measured`, without `--out`.
pub const SIMULATE_MEASURED: &str = "simulate --trace jobs.csv --cluster vcs.csv --policy lucid \
    --estimates oracle --profiles measured/single_data.csv --colocate measured/colocate_info.csv \
    --profiler off --check";

/// Trains a packing model on the tables in `measured`, and simulates jobs with these tables. `jobs` contains lines of
/// `jobs.csv`. The jobs run the measured workloads in the virtual cluster vc1, which has one node.
#[track_caller]
pub fn train_and_simulate(directory: &Path, jobs: &str) {
    let train = "train packing --profiles measured/single_data.csv";
    gleaner(directory, train).expect(0);
    let header = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,\
                  batchsize,amp\n";
    fs::write(directory.join("jobs.csv"), format!("{header}{jobs}")).unwrap();
    fs::write(directory.join("vcs.csv"), "vc,num\nvc1,1\n").unwrap();
    let simulate = format!("{SIMULATE_MEASURED} --out simulated");
    gleaner(directory, &simulate).expect(0);
}
