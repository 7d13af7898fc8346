//! Tests the number of GPUs that each policy of `gleaner simulate` has, and the reports of this number.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{cluster, gleaner, json};
use gleaner_testing::shared;

const LINE: &str = "simulate --data trace --policy fifo,srtf,lucid --check --csv --out run";

fn policy<'a>(summary: &'a Value, name: &str) -> &'a Value {
    &summary["policies"][name]
}

/// A numeric column of a CSV file.
fn column(file: &Path, name: &str) -> Vec<f64> {
    let text = fs::read_to_string(file).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let at = rows.headers().unwrap().iter().position(|head| head == name);
    let cells = rows.records().map(|row| row.unwrap()[at.unwrap()].parse());
    cells.map(Result::unwrap).collect()
}

/// Number of GPUs in the first minute of the file `TABLE_seq.csv`: the total of all virtual clusters, or the profiler's
/// GPUs.
fn simulated_gpus(run: &Path, table: &str) -> f64 {
    let file = run.join(format!("{table}_seq.csv"));
    let (times, gpus) = (column(&file, "time"), column(&file, "total_gpu_num"));
    let first = times[0];
    let minute = times.iter().zip(&gpus).filter(|(time, _)| **time == first);
    minute.map(|(_, gpus)| gpus).sum()
}

#[test]
fn lending_gives_all_policies_the_same_gpus() {
    let directory = cluster();
    let (at, run) = (directory.path(), directory.path().join("run"));
    for (lend, gpus, told) in [
        ("", 80.0, true),
        ("--lend vc1=1", 72.0, false),
        ("--lend auto", 72.0, false),
    ] {
        let line = format!("{LINE} --profiler 120,1,4 {lend}");
        let words = "80 GPUs are available to lucid, but 72 to the other policies, because no virtual cluster lends 1 of";
        let err = gleaner(at, &line).expect(0).err;
        assert_eq!(err.contains(words), told, "{err}");
        assert_eq!(err.contains("--lend auto"), told, "{err}");
        let summary = json(&run.join("summary.json"));
        assert_eq!(policy(&summary, "fifo")["gpus"], 72);
        assert_eq!(policy(&summary, "lucid")["gpus"], gpus as u64);
        let found = simulated_gpus(&run, "lucid") + simulated_gpus(&run, "profiler");
        assert_eq!(found, gpus, "{lend}");
        assert_eq!(simulated_gpus(&run, "fifo"), 72.0);
    }
    let lent = json(&run.join("run.json"))["profiler"]["lent"].clone();
    assert_eq!(lent, serde_json::json!({"vc1": 1}));
    // With a single policy, there is nothing to compare, so no remark mentions the number of GPUs.
    let alone = "simulate --data trace --policy lucid --profiler 120,1,4";
    assert!(!gleaner(at, alone).expect(0).err.contains("80 GPUs"));
}

/// The utilisation is the share of the policy's own GPUs that jobs hold, from the first submission to the last end.
#[test]
fn utilisation_is_a_share_of_the_gpus_shown() {
    let directory = cluster();
    let (at, run) = (directory.path(), directory.path().join("run"));
    let table = gleaner(at, &format!("{LINE} --profiler 120,1,4"))
        .expect(0)
        .out;
    let summary = json(&run.join("summary.json"));
    let (gpus, from, to) = (
        column(&run.join("fifo_jobs.csv"), "gpu_num"),
        column(&run.join("fifo_jobs.csv"), "start_time"),
        column(&run.join("fifo_jobs.csv"), "end_time"),
    );
    let work: f64 = (0..gpus.len())
        .map(|job| gpus[job] * (to[job] - from[job]))
        .sum();
    let submits = column(&run.join("fifo_jobs.csv"), "submit_time");
    let last = to.iter().fold(0.0, |last: f64, end| last.max(*end));
    let share = work / (72.0 * (last - submits[0]));
    let found = policy(&summary, "fifo")["gpu_utilisation"]
        .as_f64()
        .unwrap();
    assert!((found - share).abs() < 1e-9, "{found} {share}");
    for (name, gpus) in [("fifo", "72"), ("lucid", "80")] {
        let share = policy(&summary, name)["gpu_utilisation"].as_f64().unwrap();
        let arriving = policy(&summary, name)["in_use_while_arriving"]
            .as_f64()
            .unwrap();
        // The first table shows the delays. The second shows the share of GPUs in use, both while jobs arrive and over
        // the whole makespan.
        let mut rows = table.lines().filter(|line| line.starts_with(name));
        let cells: Vec<&str> = rows.nth(1).unwrap().split_whitespace().collect();
        let [arriving, share] = [arriving, share].map(|share| format!("{:.1}", 100.0 * share));
        assert_eq!(cells[1..5], [gpus, &arriving, "%", &share]);
    }
}

#[test]
fn invalid_lenders_are_refused() {
    let directory = cluster();
    let at = directory.path();
    for (arguments, words) in [
        (
            "--profiler 120,1,4 --lend auto,vc1=1",
            &["--lend", "not both"][..],
        ),
        // vc2 lends no node, because a job of 24 GPUs needs its three nodes.
        (
            "--profiler 120,20,0.1 --lend auto",
            &["--lend auto", "of the profiler's 20 nodes", "--profiler"],
        ),
        (
            "--profiler 120,1,4 --lend vc1=1,vc2=1",
            &["--lend", "2 nodes are lent, but the profiler has only 1"],
        ),
        (
            "--profiler 120,1,4 --lend some",
            &["expected auto, or VC=NODES"],
        ),
    ] {
        let line = format!("simulate --data trace --policy lucid {arguments}");
        gleaner(at, &line).expect(2).says(words);
    }
}

#[test]
fn published_loans_that_are_dropped_are_named() {
    let Some(data) = shared("lucid/venus_sept") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let line = format!(
        "simulate --preset venus-sept --data {} --policy lucid,fifo --quiet --json",
        data.display()
    );
    let gpus = |more: &str| {
        let run = gleaner(directory.path(), &format!("{line} {more}")).expect(0);
        let summary: Value = serde_json::from_str(&run.out).unwrap();
        (policy(&summary, "lucid")["gpus"].clone(), run.err)
    };
    let words = "add --lend vc8Gr=1,vcefl=1 --elastic vcYVn";
    let (published, err) = gpus("");
    assert!(published == 1080 && err.is_empty(), "{err}");
    let (extra, err) = gpus("--profiler 300,4,4");
    assert!(
        extra == 1112 && err.contains(words) && err.contains("1112 GPUs"),
        "{err}"
    );
    let (kept, err) = gpus("--profiler 300,2,4 --lend vc8Gr=1,vcefl=1 --elastic vcYVn");
    assert!(kept == 1080 && err.is_empty(), "{err}");
}
