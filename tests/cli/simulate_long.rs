//! Jobs of thirty years in a process with little memory: the tables of states get fewer rows.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{gleaner, json};

/// Address space of the child in KiB: 4 GB.
const LIMIT: &str = "4000000";

/// Runs the program with little memory. If that is not possible, this is reported, and `None` is
/// returned.
fn confined(at: &Path, line: &str) -> Option<crate::support::Run> {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: address space is limited on Linux only");
        return None;
    }
    let script = format!("ulimit -v {LIMIT} && exec \"$0\" {line}");
    let mut shell = Command::new("sh");
    shell
        .current_dir(at)
        .args(["-c", &script, env!("CARGO_BIN_EXE_gleaner")]);
    Some(shell.output().unwrap().into())
}

/// Writes this many jobs of this many seconds each, which run one after the other on a node.
fn experiment(at: &Path, jobs: u32, seconds: u32) {
    let rows = (1..=jobs).map(|job| format!("{job},a,8,0,{seconds}\n"));
    let header = String::from("job_id,vc,gpu_num,submit_time,duration\n");
    fs::write(at.join("jobs.csv"), header + &rows.collect::<String>()).unwrap();
    fs::write(at.join("vc.csv"), "vc,num\na,1\n").unwrap();
}

const LINE: &str = "simulate --trace jobs.csv --cluster vc.csv --quiet --out run";

#[test]
fn tables_of_minutes_are_bounded_together() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    experiment(at, 60, 1_000_000_000);
    let line = format!("{LINE} --policy fifo,sjf,srtf,tiresias --check");
    let Some(run) = confined(at, &line) else {
        return;
    };
    run.expect(0).says(&[
        "a row every",
        "minutes",
        "by the minute they would have 4.0e9 rows",
    ]);
    let step = json(&at.join("run/summary.json"))["seq_step_s"]
        .as_i64()
        .unwrap();
    // 4e9 minutes, of which 120 million may have a row.
    assert_eq!(step, 3600);
    confined(at, "report run -o page.html").unwrap().expect(0);
    assert!(
        fs::read_to_string(at.join("page.html"))
            .unwrap()
            .contains("100.0 %")
    );
}

#[test]
fn tables_of_normal_length_have_a_row_a_minute() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    experiment(at, 3, 100_000);
    let run = gleaner(at, &format!("{LINE} --policy fifo --csv")).expect(0);
    assert!(!run.err.contains("a row every"), "{}", run.err);
    assert_eq!(
        json(&at.join("run/summary.json"))["seq_step_s"],
        Value::from(60)
    );
    let rows = fs::read_to_string(at.join("run/fifo_seq.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 300_000 / 60 + 1);
}
