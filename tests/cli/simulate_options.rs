//! Options of `gleaner simulate` that depend on the cluster and on the policies chosen.

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
    // Policies without a profiler do not use the option.
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
        "--estimates has no effect: no chosen policy uses estimated durations, as qssf, lucid, easy would",
        "--forecast has no effect: no chosen policy shares GPUs, as lucid would",
        "--csv has no effect: tables are written only with --out",
        "--corrected has no effect",
        "--profiler has no effect: no chosen policy profiles jobs, as lucid would",
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

/// Whether a text has no characters that a terminal obeys or hides.
fn is_clean(text: &str) -> bool {
    let hidden = |c: char| {
        c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{2028}'
    };
    !text.contains(hidden)
}

#[test]
fn names_cannot_control_the_terminal() {
    const EVIL: &str = "\x1b]0;x\x07\u{202e}\u{2028}";
    let directory = cluster();
    let at = directory.path();
    let rename = |name: &str, of: &str| {
        let path = at.join("trace").join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(of, &format!("{of}{EVIL}"))).unwrap();
    };
    rename("vc_config.csv", "vc3");
    rename("jobs.csv", "vc3");
    for name in ["jobs.csv", "single_data.csv", "colocate_info.csv"] {
        rename(name, "SparrowNet");
    }
    let vc = format!("vc3{EVIL}=2");
    let lend = "simulate --data trace --policy lucid --profiler 120,2,4 --lend";
    let lend: Vec<&str> = lend.split(' ').chain([vc.as_str()]).collect();
    let mut runs =
        vec![gleaner(at, "simulate --data trace --policy all,easy --profiler off").expect(0)];
    runs.push(
        crate::runs::command(at, "")
            .args(&lend)
            .output()
            .unwrap()
            .into(),
    );
    // Jobs of a VC that the cluster does not have, of workloads without profiles, and without
    // estimates.
    let spoil = |name: &str, from: &str, to: &str| {
        let path = at.join("trace").join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    spoil("duration_estimate.csv", "\n1,", "\nother,");
    spoil("jobs.csv", "\n1,", &format!("\n1{EVIL},"));
    runs.push(gleaner(at, "simulate --data trace --policy qssf").expect(3));
    spoil("single_data.csv", "SparrowNet", "Nobody");
    runs.push(
        gleaner(
            at,
            "simulate --data trace --policy lucid --estimates oracle",
        )
        .expect(3),
    );
    spoil("vc_config.csv", "vc3", "vc4");
    runs.push(gleaner(at, "simulate --data trace --policy fifo").expect(3));
    for run in runs {
        assert!(
            is_clean(&run.out) && is_clean(&run.err),
            "{:?} {:?}",
            run.out,
            run.err
        );
    }
}
