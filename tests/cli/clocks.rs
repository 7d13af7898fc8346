//! Tests that local times are preserved from a scheduler's log to the inspection and the replay.

use std::fs;
use std::path::Path;

use crate::support::{gleaner, json, samples};

const HOUR: i64 = 3600;
/// 2026-03-08 08:00 UTC, the moment when clocks in Chicago move forward from 2:00 to 3:00.
const SPRING: i64 = 1_772_956_800;

fn american(local: i64) -> String {
    let text = gleaner_domain::Local::from_seconds(local).to_string();
    format!(
        "{}/{}/{} {}",
        &text[5..7],
        &text[8..10],
        &text[..4],
        &text[11..]
    )
}

/// A machine of two nodes in Chicago. Both nodes are idle from 12:00 to 13:00 local time on five days. On the third
/// day, the clocks move forward at 2:00.
fn write_log(at: &Path) {
    let mut log = String::new();
    for day in 0..5i64 {
        let shift = if day < 2 { -6 } else { -5 } * HOUR;
        let midnight = SPRING - 8 * HOUR + (day - 2) * 24 * HOUR - shift;
        for (from, to) in [(0, 12), (13, 24)] {
            // At midnight of the third day, standard time still applies. The variable `midnight` assumes summer time,
            // so it is an hour too early.
            let (from, to) = (midnight + from * HOUR, midnight + to * HOUR);
            let from = if day == 2 && from == midnight {
                from + HOUR
            } else {
                from
            };
            let local =
                |second: i64| american(second + if second < SPRING { -6 } else { -5 } * HOUR);
            let id = format!("{day}{from}");
            let host = "exec_host=n1/0+n2/0";
            log += &format!("{};S;{id};start={from} {host}\n", local(from));
            log += &format!("{};E;{id};start={from} end={to} {host}\n", local(to));
        }
    }
    fs::write(at.join("pbs.txt"), log).unwrap();
}

// The nodes are idle from 12:00 to 13:00 local time, both before and after the clock change.
#[test]
fn hours_of_an_inspection_are_local_time() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_log(at);
    let run = gleaner(at, "ingest pbs pbs.txt -o log.csv").expect(0);
    run.says(&[
        "wrote log.csv",
        "UTC-06:00, UTC-05:00 from 2026-03-08 03:00:00",
    ]);
    let csv = fs::read_to_string(at.join("log.csv")).unwrap();
    assert!(csv.contains("2026-03-09 12:00:00-05:00,n1,1"), "{csv}");
    let run = gleaner(at, "inspect log.csv --json").expect(0);
    assert_eq!(run.err, "");
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["from"], "2026-03-06 00:00:00-06:00");
    assert_eq!(found["to"], "2026-03-11 00:00:00-05:00");
    let hours = found["calendar"]["hours"].as_array().unwrap();
    for (hour, slot) in hours.iter().enumerate() {
        let expected = if hour == 12 { 2.0 } else { 0.0 };
        assert_eq!(slot["idle_nodes"], expected, "hour {hour}");
    }
    gleaner(at, "inspect log.csv -o page.html").expect(0);
    let page = fs::read_to_string(at.join("page.html")).unwrap();
    assert!(page.contains("2026-03-06 00:00:00-06:00"));
}

#[test]
fn a_replay_is_cut_at_local_times_and_its_tasks_may_have_offsets() {
    let directory = samples();
    let at = directory.path();
    write_log(at);
    gleaner(at, "ingest pbs pbs.txt -o log.gev").expect(0);
    let task = "[[task]]\nname = \"a\"\nsubmit = 2026-03-09T17:30:00Z\nmin_nodes = 1\nmax_nodes = 2\n\
                rescale_up = 1\nrescale_down = 1\nwork = 1e9\n\
                curve = { nodes = [0, 2], progress = [0, 1] }\n";
    fs::write(at.join("one.toml"), task).unwrap();
    let line =
        "replay --events log.gev --tasks one.toml --t-fwd 60 --out run --from 2026-03-09T11:30";
    gleaner(at, line).expect(0);
    let run = json(&at.join("run/run.json"));
    assert!(run.to_string().contains("2026-03-09 11:30:00"), "{run}");
    // The log starts at 12:00 on the local clock, and the task is submitted at 12:30.
    assert_eq!(
        json(&at.join("run/summary.json"))["from"],
        "2026-03-09 12:00:00"
    );
    let tasks = fs::read_to_string(at.join("run/tasks.csv")).unwrap();
    assert!(tasks.contains("2026-03-09 12:30:00"), "{tasks}");
    // If the time zone of a log is unknown, times with offsets are rejected.
    let unknown = gleaner(at, "replay --events idle.csv --tasks one.toml --t-fwd 60").expect(3);
    unknown.says(&["one.toml", "submit", "the log's time zone is unknown"]);
    let cut = "inspect idle.csv --from 2021-01-01T12:00:00Z";
    gleaner(at, cut)
        .expect(2)
        .says(&["has an offset from UTC", "--timezone"]);
}

#[test]
fn a_log_without_a_zone_gets_one() {
    let directory = samples();
    let at = directory.path();
    let inspected = |line: &str| {
        let run = gleaner(at, &format!("inspect {line} --json")).expect(0);
        let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        (
            run.err,
            found["from"].as_str().unwrap().to_owned(),
            found["idle_node_seconds"].clone(),
        )
    };
    let (said, from, idle) = inspected("idle.csv");
    assert!(
        said.contains("the log does not state its time zone"),
        "{said}"
    );
    assert_eq!(from.len(), 19);
    for zone in ["America/Chicago", "+05:30"] {
        let run = gleaner(
            at,
            &format!("convert idle.csv -o zoned.gev --timezone {zone}"),
        )
        .expect(0);
        run.says(&["wrote zoned.gev: "]);
        for line in [
            "zoned.gev".to_owned(),
            format!("idle.csv --timezone {zone}"),
        ] {
            let (said, zoned, same) = inspected(&line);
            assert_eq!((said, same), (String::new(), idle.clone()));
            assert!(zoned.starts_with(&from) && zoned.len() == 25, "{zoned}");
        }
    }
    let wrong = gleaner(at, "convert idle.csv -o zoned.gev --timezone Mars/Base").expect(2);
    wrong.says(&["--timezone Mars/Base: expected a zone of the IANA database"]);
}
