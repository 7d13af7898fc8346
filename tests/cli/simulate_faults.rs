//! Invalid data of `gleaner simulate`: exit code 3 and a message that says where and what, or the
//! data left out.

use std::fs;
use std::path::Path;

use crate::support::{change_line, cluster, gleaner, json};

const VC: usize = 2;
const GPUS: usize = 4;
const DURATION: usize = 8;
const MODEL: usize = 10;

/// Replaces a cell of the fourth line of the trace.
fn spoil(at: &Path, column: usize, cell: &str) {
    change_line(&at.join("trace/jobs.csv"), 4, |cells| {
        cell.clone_into(&mut cells[column])
    });
}

#[test]
fn faults_of_jobs_name_the_line_and_jobs_can_be_left_out() {
    for (column, cell, words) in [
        (
            VC,
            "mars",
            &["line 4, vc", "mars", "a VC of the cluster"][..],
        ),
        (GPUS, "33", &["line 4, gpu_num", "33"]),
        (DURATION, "0", &["line 4, duration", "\"0\""]),
        (DURATION, "soon", &["line 4, duration", "\"soon\""]),
        (MODEL, "Oracle", &["line 4, model", "Oracle", "profile"]),
    ] {
        let directory = cluster();
        let at = directory.path();
        spoil(at, column, cell);
        let line = "simulate --data trace --policy lucid --profiler off";
        gleaner(at, line)
            .expect(3)
            .says(words)
            .says(&["trace/jobs.csv"]);
        let line = format!("{line} --skip-invalid --out run");
        let run = gleaner(at, &line).expect(0);
        let run = run.says(&["left out"]).says(words);
        assert!(run.out.contains("lucid"), "{}", run.out);
        let summary = json(&at.join("run/summary.json"));
        assert_eq!(summary["policies"]["lucid"]["jobs"], 399);
        let skipped = fs::read_to_string(at.join("run/skipped.csv")).unwrap();
        assert_eq!(skipped.lines().count(), 2, "{skipped}");
        assert!(skipped.contains("trace/jobs.csv,line 4,"), "{skipped}");
    }
}

#[test]
fn several_faults_are_gathered() {
    let directory = cluster();
    let at = directory.path();
    spoil(at, GPUS, "1000");
    change_line(&at.join("trace/jobs.csv"), 7, |cells| {
        cells[DURATION] = "-1".into()
    });
    let run = gleaner(at, "simulate --data trace --policy fifo").expect(3);
    run.says(&["2 faults", "line 4, gpu_num", "line 7, duration"]);
}

#[test]
fn missing_estimates_and_pairs_are_named() {
    let directory = cluster();
    let at = directory.path();
    let estimates = at.join("trace/duration_estimate.csv");
    change_line(&estimates, 2, |cells| cells[0] = "no-such-job".into());
    let run = gleaner(at, "simulate --data trace --policy qssf").expect(3);
    run.says(&["duration_estimate.csv", "no estimate for 1 job: 1"]);
    let pairs = at.join("trace/colocate_info.csv");
    let text = fs::read_to_string(&pairs).unwrap();
    let kept = text
        .lines()
        .filter(|line| line.matches("SparrowNet,64,0").count() < 2);
    fs::write(&pairs, kept.collect::<Vec<_>>().join("\n")).unwrap();
    let line = "simulate --data trace --policy lucid --profiler off --estimates oracle";
    let run = gleaner(at, line).expect(3);
    run.says(&["colocate_info.csv", "SparrowNet", "measure the pair"]);
}

#[test]
fn jobs_that_need_a_lent_node_are_faults() {
    let directory = cluster();
    let at = directory.path();
    spoil(at, VC, "vc3");
    spoil(at, GPUS, "16");
    let line = "simulate --data trace --policy lucid --profiler 120,1,4 --lend vc3=1";
    let words = ["16 GPUs", "vc3", "--lend", "--skip-invalid"];
    gleaner(at, line).expect(3).says(&words);
    gleaner(at, &format!("{line} --skip-invalid --out run")).expect(0);
    let skipped = fs::read_to_string(at.join("run/skipped.csv")).unwrap();
    assert!(skipped.contains("16 GPUs"), "{skipped}");
}

#[test]
fn tables_of_another_kind_are_refused() {
    let directory = cluster();
    let at = directory.path();
    for (arguments, words) in [
        (
            "--trace trace/vc_config.csv --policy fifo",
            &["vc_config.csv", "submit_time"][..],
        ),
        (
            "--cluster trace/jobs.csv --policy fifo",
            &["jobs.csv", "nodes"],
        ),
        (
            "--profiles trace/jobs.csv --policy lucid",
            &["jobs.csv", "every workload once"],
        ),
        (
            "--forecast trace/jobs.csv --policy lucid",
            &["jobs.csv", "pred_gpu_job"],
        ),
        (
            "--estimates trace/jobs.csv --policy qssf",
            &["jobs.csv", "priority"],
        ),
        (
            "--colocate trace/jobs.csv --policy lucid",
            &["jobs.csv", "speed1"],
        ),
    ] {
        let line = format!("simulate --data trace --profiler off {arguments}");
        gleaner(at, &line).expect(3).says(words);
    }
}
