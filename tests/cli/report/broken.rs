//! Tests that damaged run directories, and directories without a run, are rejected with exit code 3 and a fault that
//! names the file.

use std::fs;
use std::path::Path;

use gleaner_domain::Unobserved;
use gleaner_report::{SweepChoice, html};

use super::support::{gleaner, replays, sign, simulation};

/// Damages a file of a new run, lists the damaged file in `run.json`, and runs `gleaner report`.
fn spoilt(directory: &Path, file: &str, spoil: impl Fn(Vec<u8>) -> Vec<u8>) -> super::support::Run {
    let path = directory.join(file);
    let sound = fs::read(&path).unwrap();
    fs::write(&path, spoil(sound.clone())).unwrap();
    let run = file.split('/').next().unwrap();
    if !file.ends_with("run.json") {
        sign(&directory.join(run));
    }
    let report = gleaner(directory, &format!("report {run} -o page.html"));
    assert!(!directory.join("page.html").exists());
    fs::write(&path, sound).unwrap();
    report
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(Vec<u8>) -> Vec<u8> {
    move |sound| {
        let text = String::from_utf8(sound).unwrap();
        assert!(text.contains(from));
        text.replace(from, to).into_bytes()
    }
}

#[test]
fn a_directory_without_a_run_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    for run in ["missing", "."] {
        let report = gleaner(path, &format!("report {run} -o page.html"));
        report
            .expect(1)
            .says(&["run.json", "gleaner replay, simulate, sweep or compare"]);
    }
    fs::create_dir_all(path.join("odd/run.json")).unwrap();
    gleaner(path, "report odd -o page.html")
        .expect(3)
        .says(&["something other than a file"]);
}

#[test]
fn damaged_descriptions() {
    let directory = replays();
    let path = directory.path();
    let other = replaced("\"command\": \"replay\"", "\"command\": \"inspect\"");
    spoilt(path, "short/run.json", other)
        .expect(3)
        .says(&["run.json", "inspect"]);
    let cut = |sound: Vec<u8>| sound[..sound.len() / 2].to_vec();
    for file in ["short/run.json", "short/summary.json"] {
        spoilt(path, file, cut).expect(3).says(&[file, "line"]);
        spoilt(path, file, |_| b"[[[[".to_vec())
            .expect(3)
            .says(&[file]);
        spoilt(path, file, |_| vec![0xff; 100])
            .expect(3)
            .says(&[file]);
    }
    let missing = replaced("\"total_work\"", "\"work\"");
    spoilt(path, "short/summary.json", missing)
        .expect(3)
        .says(&["total_work"]);
}

#[test]
fn damaged_tables() {
    let directory = replays();
    let path = directory.path();
    for table in ["steps", "tasks", "allocations", "fragments"] {
        let file = format!("short/{table}.parquet");
        let length = fs::metadata(path.join(&file)).unwrap().len() as usize;
        for kept in [0, length / 2, length - 1] {
            spoilt(path, &file, |sound| sound[..kept].to_vec())
                .expect(3)
                .says(&[&file]);
        }
        let others = if table == "steps" { "tasks" } else { "steps" };
        let other = fs::read(path.join(format!("short/{others}.parquet"))).unwrap();
        spoilt(path, &file, |_| other.clone())
            .expect(3)
            .says(&[&file, "no such column"]);
        fs::rename(path.join(&file), path.join("aside")).unwrap();
        let missing = gleaner(path, "report short -o page.html");
        missing.expect(3).says(&[&file]);
        fs::rename(path.join("aside"), path.join(&file)).unwrap();
        sign(&path.join("short"));
    }
}

#[test]
fn files_that_were_changed_are_refused() {
    let directory = replays();
    let path = directory.path();
    for file in ["summary.json", "steps.parquet", "tasks.parquet"] {
        let (short, long) = (path.join("short").join(file), path.join("long").join(file));
        let sound = fs::read(&short).unwrap();
        fs::copy(long, &short).unwrap();
        let report = gleaner(path, "report short -o page.html");
        let changed = [
            file,
            "content that does not match run.json",
            "repeat the run",
        ];
        report.expect(3).says(&changed);
        fs::write(&short, sound).unwrap();
    }
    gleaner(path, "report short -o page.html").expect(0);
    let unfinished = replaced(
        "\"complete\": true",
        "\"complete\": false, \"unfinished\": true",
    );
    fs::remove_file(path.join("page.html")).unwrap();
    spoilt(path, "short/run.json", unfinished).expect(3).says(&[
        "short",
        "before its results were in place",
        "repeat the run",
    ]);
}

#[test]
fn every_flipped_byte_is_a_fault_or_a_page() {
    let directory = replays();
    let run = directory.path().join("short");
    let page = || {
        let runs = [gleaner_runs::read::read(&run)?];
        html::page(&gleaner_report::of_runs(
            &runs,
            &SweepChoice::default(),
            &Unobserved,
        )?)
    };
    let file = run.join("tasks.parquet");
    let sound = fs::read(&file).unwrap();
    for place in (0..sound.len()).step_by(sound.len() / 60) {
        let mut flipped = sound.clone();
        flipped[place] ^= 0xa5;
        fs::write(&file, flipped).unwrap();
        sign(&run);
        if let Err(error) = page() {
            assert_eq!(error.exit_code(), 3, "{place}: {error}");
        }
    }
}

#[test]
fn tables_of_different_runs() {
    let directory = replays();
    let path = directory.path();
    let tasks = fs::read_to_string(path.join("tasks.toml")).unwrap();
    fs::write(
        path.join("renamed.toml"),
        tasks.replace("\"task", "\"other"),
    )
    .unwrap();
    let line = "replay --events idle.csv --tasks renamed.toml --out renamed";
    gleaner(path, line).expect(0);
    let other = fs::read(path.join("renamed/allocations.parquet")).unwrap();
    spoilt(path, "short/allocations.parquet", |_| other.clone())
        .expect(3)
        .says(&[
            "allocations.parquet",
            "row",
            "a task listed in tasks.parquet",
            "other0001",
        ]);
}

#[test]
fn policy_names_that_are_paths_are_refused() {
    let directory = simulation();
    let path = directory.path();
    let elsewhere = replaced("\"fifo\"", "\"../../etc/passwd\"");
    spoilt(path, "sim/summary.json", elsewhere)
        .expect(3)
        .says(&["summary.json", "passwd"]);
    let unknown = replaced("\"fifo\"", "\"unknown\"");
    spoilt(path, "sim/summary.json", unknown)
        .expect(3)
        .says(&["unknown_jobs.parquet"]);
    let wrong = replaced("\"avg_queue_s\"", "\"queue\"");
    spoilt(path, "sim/summary.json", wrong)
        .expect(3)
        .says(&["avg_queue_s"]);
    for table in ["fifo_jobs", "sjf_seq"] {
        let file = format!("sim/{table}.parquet");
        let cut = |sound: Vec<u8>| sound[..sound.len() - 20].to_vec();
        spoilt(path, &file, cut).expect(3).says(&[&file]);
    }
}
