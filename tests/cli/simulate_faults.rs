//! Tests invalid data. `gleaner simulate` either leaves such data out, or exits with code 3 and a message that states
//! the place and the value.

use std::fs;
use std::path::Path;

use crate::support::{change_line, cluster, gleaner, json};

const VC: usize = 2;
const GPUS: usize = 4;
const MODEL: usize = 10;

/// Replaces a cell of the fourth line of the trace.
fn spoil(at: &Path, column: usize, cell: &str) {
    change_line(&at.join("trace/jobs.csv"), 4, |cells| {
        cell.clone_into(&mut cells[column])
    });
}

// The fault in this test is a job without a profile, which is found only by comparing the trace with the profiles. The
// tests of the readers cover the other kinds of faults.
#[test]
fn faults_of_jobs_name_the_line_and_jobs_can_be_left_out() {
    let directory = cluster();
    let at = directory.path();
    spoil(at, MODEL, "Oracle");
    let words = ["trace/jobs.csv, line 4, model", "Oracle", "profile"];
    let line = "simulate --data trace --policy lucid --profiler off";
    gleaner(at, line).expect(3).says(&words);
    let line = format!("{line} --skip-invalid --out run");
    let run = gleaner(at, &line).expect(0);
    let run = run.says(&["left out"]).says(&words);
    assert!(run.out.contains("lucid"), "{}", run.out);
    let summary = json(&at.join("run/summary.json"));
    assert_eq!(summary["policies"]["lucid"]["jobs"], 399);
    let skipped = fs::read_to_string(at.join("run/skipped.csv")).unwrap();
    assert_eq!(skipped.lines().count(), 2, "{skipped}");
    assert!(skipped.contains("trace/jobs.csv,line 4,"), "{skipped}");
}

#[test]
fn missing_pairs_are_named() {
    let directory = cluster();
    let at = directory.path();
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
