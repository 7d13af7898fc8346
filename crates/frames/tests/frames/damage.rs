use std::fs;
use std::path::Path;

use gleaner_domain::results::sweep::Mode;
use gleaner_domain::results::{Column, Table};
use gleaner_frames::{Error, open};
use gleaner_runs::run::RunDir;
use serde_json::{Value, json};

use crate::support::{finish, replay, write_replay, write_simulation, write_sweep};

/// Damages each of the files in turn, in several ways, and checks that opening the run fails.
fn damage(write: impl Fn(&Path), files: &[&str]) {
    for name in files {
        let damages: [fn(&Path, Vec<u8>); 3] = [
            |file, _| fs::remove_file(file).unwrap(),
            |file, bytes| fs::write(file, &bytes[..bytes.len() / 2]).unwrap(),
            |file, mut bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x80;
                fs::write(file, bytes).unwrap();
            },
        ];
        for spoil in damages {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path());
            open(folder.path()).unwrap();
            let file = folder.path().join(name);
            spoil(&file, fs::read(&file).unwrap());
            let error = open(folder.path()).unwrap_err();
            assert!(matches!(error, Error::Run(_)), "{error}");
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}

#[test]
fn damaged_runs_are_errors_that_name_the_file() {
    damage(
        |path| write_replay(path, &replay()),
        &["run.json", "summary.json", "steps.parquet", "tasks.parquet"],
    );
    damage(
        |path| drop(write_simulation(path)),
        &["summary.json", "fifo_jobs.parquet", "fifo_seq.parquet"],
    );
    damage(
        |path| write_sweep(path, &[(30.0, 0, 5.0)]),
        &["run.json", "summary.json", "sweep.parquet"],
    );
}

#[test]
fn a_directory_without_a_run_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let message = open(folder.path()).unwrap_err().to_string();
    assert!(message.contains("name a run directory"), "{message}");
}

#[test]
fn a_setting_of_another_type_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::open(folder.path(), "sweep", &Value::Null).unwrap();
    let text = |name: &str| Column::Texts(vec![if name == "t_fwd" { "long" } else { "" }.into()]);
    let settings = Mode::Replay.settings().iter().map(|field| field.name);
    let metrics = Mode::Replay.metrics().iter().map(|metric| metric.name);
    let figures = metrics.map(|name| (name, Column::Floats(vec![Some(1.0)])));
    let columns = std::iter::once("run").chain(settings);
    let columns = columns.map(|name| (name, text(name))).chain(figures);
    let name = "sweep";
    let columns = columns.collect();
    dir.write_parquet(&Table { name, columns }).unwrap();
    dir.write_json("summary.json", &json!({"metric": "total_work"}))
        .unwrap();
    finish(dir);
    let message = open(folder.path()).unwrap_err().to_string();
    assert!(
        message.contains("\"t_fwd\" of run 0") && message.contains("found \"long\""),
        "{message}"
    );
}
