//! Tests `gleaner ingest` for polls of node states, traces of spot instances, and SWF workloads with additional fields.

use std::fs;

use crate::support::{gleaner, logs, with_stdin};

#[test]
fn polls_become_an_event_log_with_its_quality() {
    let directory = logs();
    let at = directory.path();
    gleaner(at, "ingest sinfo sinfo-polls.txt -o log.gev")
        .expect(0)
        .says(&[
            "assumed to consist of the 8 nodes that polls name",
            "wrote log.gev\n",
            "polls     10, every 15 s (median; longest interval 600 s)",
            "events    9, of 28 changes",
            "in 17 fragments, with a standard error of",
            "unknown   0.0 node-hours",
            "the longest span lasts 585 s and begins at 2026-11-23 17:02:15+00:00",
        ]);
    let log = gleaner_inputs::events::read(&at.join("log.gev"))
        .unwrap()
        .value;
    assert_eq!(log.quality().unwrap().uncovered, 8 * 585);
    // The event log has the same bytes if the polls are read from stdin.
    let polls = fs::read_to_string(at.join("sinfo-polls.txt")).unwrap();
    with_stdin(at, "ingest sinfo - -o stdin.gev", &polls).expect(0);
    let [file, stdin] = ["log.gev", "stdin.gev"].map(|name| fs::read(at.join(name)).unwrap());
    assert!(file == stdin);
}

#[test]
fn coarse_polls_need_two_logs() {
    let directory = logs();
    let at = directory.path();
    let polls: String = (0..9)
        .map(|minute| format!("{} {} n[1-3]\n", 60 * minute, ["idle", "busy"][minute % 2]))
        .collect();
    fs::write(at.join("coarse.txt"), polls).unwrap();
    let line = "ingest sinfo coarse.txt -o log.csv";
    gleaner(at, line).expect(0).says(&[
        "the median interval between polls is 60 s",
        "the efficiency of a replay is too high. --times spread shows",
    ]);
    gleaner(at, &format!("{line} --times spread --seed 7"))
        .expect(0)
        .says(&["is too low if nodes leave in groups. With --times polled"]);
    let spread = fs::read(at.join("log.csv")).unwrap();
    gleaner(at, &format!("{line} --times spread --seed 7")).expect(0);
    assert!(fs::read(at.join("log.csv")).unwrap() == spread);
    gleaner(at, &format!("{line} --times spread --seed 8")).expect(0);
    assert!(fs::read(at.join("log.csv")).unwrap() != spread);
}

#[test]
fn wrong_uses_of_polls_are_reported() {
    let directory = logs();
    let at = directory.path();
    for (line, code, words) in [
        (
            "sinfo-polls.txt -o a.gev --max-gap 10",
            2,
            "--max-gap is 10 s: expected at least 15 s",
        ),
        (
            "sinfo-polls.txt -o a.gev --from 2027-01-01",
            2,
            "the polls are from 2026-11-23 17:00:00+00:00 to 2026-11-23 17:12:15+00:00",
        ),
        ("sacct.txt -o a.gev", 3, "none usable"),
        (
            "sinfo-polls.txt -o a.txt",
            2,
            "ending in .csv, .parquet or .gev",
        ),
        (
            "sinfo-polls.txt -o a.gev --unknown deal",
            2,
            "[possible values: busy, idle]",
        ),
    ] {
        gleaner(at, &format!("ingest sinfo {line}"))
            .expect(code)
            .says(&[words]);
        assert!(!at.join("a.gev").exists(), "{line}");
    }
    gleaner(
        at,
        "replay --events sinfo-polls.txt --tasks sinfo-polls.txt",
    )
    .expect(3)
    .says(&[
        "polls of node states",
        "gleaner ingest sinfo sinfo-polls.txt",
    ]);
}

#[test]
fn traces_of_spot_instances_become_event_logs() {
    let directory = logs();
    let at = directory.path();
    gleaner(at, "ingest spot spot-named.csv -o named.csv")
        .expect(0)
        .says(&[
            "set the true start with --start TIME",
            "events    4, of 8 changes",
        ]);
    let line = "ingest spot spot-counts.csv --start 2026-01-01T06:00:00Z -o counts.csv";
    gleaner(at, line)
        .expect(0)
        .says(&["the node that joined last leaves first", "nodes     3\n"]);
    let counts = fs::read_to_string(at.join("counts.csv")).unwrap();
    assert!(
        counts.contains("\n2026-01-01 06:01:30.500+00:00,n1,0\n"),
        "{counts}"
    );
    gleaner(
        at,
        "ingest spot spot-dated.txt --start 2026-01-01 -o dated.csv",
    )
    .expect(2)
    .says(&["--start is for traces in milliseconds"]);
}

#[test]
fn the_last_field_of_a_workload_may_state_nodes() {
    let directory = logs();
    let at = directory.path();
    let job = |start: u32, processors: u32, shape: &str| {
        format!("1 {start} 0 60 {processors} -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1 16 -1 {shape}\n")
    };
    let log = format!(
        "; UnixStartTime: 0\n; MaxNodes: 4\n; MaxProcs: 256\n{}{}{}",
        job(0, 3, "excl:3x64"),
        job(90, 256, "excl:4x64"),
        job(200, 64, "none")
    );
    fs::write(at.join("further.swf"), log).unwrap();
    let line = "ingest swf further.swf --from 1970-01-01T00:00:00Z --to 1970-01-01T01:02:30+01:00";
    gleaner(at, &format!("{line} --nodes-field last -o log.csv"))
        .expect(0)
        .says(&[
            "1 that ran on unknown nodes; first further.swf, line 6",
            "events    4, of 12 changes",
        ]);
    gleaner(at, &format!("{line} -o log.csv"))
        .expect(0)
        .says(&["used      3 jobs"]);
    gleaner(
        at,
        &format!("{line} --nodes-field last --cores-per-node 2 -o log.csv"),
    )
    .expect(2);
}
