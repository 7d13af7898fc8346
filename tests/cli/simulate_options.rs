//! Tests options of `gleaner simulate` that depend on the cluster and on the chosen policies.

use std::fs;

use crate::support::{cluster, gleaner, json};

#[test]
fn the_auto_profiler_is_off_without_published_settings() {
    let directory = cluster();
    let at = directory.path();
    let words = [
        "--profiler auto",
        "not profiled",
        "--profiler 200,2,4 --lend auto",
    ];
    let line = "simulate --data trace --policy lucid,fifo --json";
    let auto = gleaner(at, line).expect(0).says(&words);
    let off = gleaner(at, &format!("{line} --profiler off")).expect(0);
    assert_eq!(auto.out, off.out);
    assert!(off.err.is_empty(), "{}", off.err);
    // For a policy that does not profile jobs, the default of `--profiler` has no effect and prints nothing.
    let fifo = gleaner(at, "simulate --data trace --policy fifo").expect(0);
    assert!(fifo.err.is_empty(), "{}", fifo.err);
}

#[test]
fn models_replace_files_without_a_profiler_setting() {
    let directory = cluster();
    let at = directory.path();
    gleaner(at, "simulate --data trace --policy lucid --models train").expect(0);
    gleaner(at, "train all --data trace --epoch 2026-01-05 --out models").expect(0);
    let profiles = fs::read_to_string(at.join("trace/single_data.csv")).unwrap();
    let mut lines = profiles.lines();
    let mut predicted = format!("{},source\n", lines.next().unwrap());
    for line in lines {
        let (row, _) = line.rsplit_once(',').unwrap();
        predicted += &format!("{row},,predicted\n");
    }
    fs::write(at.join("predicted.csv"), predicted).unwrap();
    let line = "simulate --data trace --policy lucid --profiles predicted.csv --models models";
    let run = gleaner(at, line).expect(0);
    assert!(run.out.contains("\nlucid "), "{}", run.out);
}

#[test]
fn options_without_effect_are_named() {
    let directory = cluster();
    let at = directory.path();
    let line = "simulate --data trace --policy fifo --estimates oracle --forecast 3 --csv \
                --corrected --profiler 200,2,4 --models train --epoch 2020-04-01";
    gleaner(at, line).expect(0).says(&[
        "--estimates has no effect: no chosen policy uses estimated durations; policies that do: qssf, lucid, easy",
        "--forecast has no effect: no chosen policy shares GPUs; policies that do: lucid",
        "--csv has no effect: tables are written only with --out",
        "--corrected has no effect",
        "--profiler has no effect: no chosen policy profiles jobs; policies that do: lucid",
        "--models has no effect",
        "--epoch has no effect",
    ]);
    let line = "simulate --data trace --policy lucid --profiler off --lend vc1=1 --elastic vc2";
    gleaner(at, line).expect(0).says(&[
        "--lend has no effect: no job is profiled",
        "--elastic has no effect",
    ]);
}

#[test]
fn written_files_are_reported() {
    let directory = cluster();
    let at = directory.path();
    let line =
        "simulate --data trace --policy fifo --out run --idle-events idle.csv --epoch 2026-01-05";
    gleaner(at, line).expect(0).says(&[
        "run: run.json and 7 other files",
        "idle.csv: ",
        " events of 9 nodes, 2026-01-05 00:00:00 to ",
    ]);
    let info = json(&at.join("run/run.json"));
    assert_eq!(info["arguments"]["epoch"], "2026-01-05 00:00:00");
}
