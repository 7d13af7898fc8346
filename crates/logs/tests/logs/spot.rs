//! Tests the reader of traces of spot instances. The expected events were worked out by hand.

use std::path::Path;

use gleaner_domain::UnknownNodes;
use gleaner_inputs::events;
use gleaner_logs::scheduler::{Format, Reason};
use gleaner_logs::spot::{Options, SpotSummary, read_bytes};

use super::support;
use super::support::text;

/// The events of a trace, such as `1970-01-01 00:01:30.500 -i-1`, where `+` marks an added node and `-` a removed node.
fn rows(bytes: &[u8], options: &Options) -> gleaner_domain::Result<(Vec<String>, SpotSummary)> {
    let log = read_bytes(Path::new("trace"), bytes, options)?;
    let (nodes, clock) = (log.nodes().to_vec(), log.clock().clone());
    let mut rows = Vec::new();
    let summary = log.sweep(|time, changes| {
        let mut row = clock.local(time).to_string();
        for change in changes {
            row += if change.idle() { " +" } else { " -" };
            row += &nodes[change.node() as usize];
        }
        rows.push(row);
        Ok(())
    })?;
    Ok((rows, summary))
}

#[test]
fn nodes_come_and_leave() {
    let (found, summary) = rows(text("spot-named.csv").as_bytes(), &Options::default()).unwrap();
    let expected = [
        "1970-01-01 00:00:00 +i-1 +i-2 +i-3",
        "1970-01-01 00:01:30.500 -i-1 -i-2",
        "1970-01-01 00:10:00 +i-2 +i-10",
        "1970-01-01 00:30:00 -i-10",
    ];
    assert_eq!(found, expected);
    // Worked out by hand: 3 nodes are idle for 90.5 s, one for 509.5 s and 3 for 1200 s.
    assert_eq!(summary.quality.idle_lower, 4381);
    assert!(!summary.quality.are_nodes_generated);
    assert!(summary.notes[0].contains("--start"), "{:?}", summary.notes);
}

#[test]
fn counts_are_assigned_to_the_lowest_nodes() {
    let options = Options {
        start: Some("2026-01-01T06:00:00+01:00".to_owned()),
        ..Options::default()
    };
    let (found, summary) = rows(text("spot-counts.csv").as_bytes(), &options).unwrap();
    let expected = [
        "2026-01-01 06:00:00 +n0 +n1 +n2",
        "2026-01-01 06:01:30.500 -n1 -n2",
        "2026-01-01 06:10:00 +n1 +n2",
        "2026-01-01 06:30:00 -n2",
    ];
    assert_eq!(found, expected);
    assert_eq!(summary.quality.idle_lower, 4381);
    assert!(summary.quality.are_nodes_generated);
}

/// Clocks in Chicago are set back from 2:00 to 1:00, so 1:10 can be after 1:30.
#[test]
fn local_times_keep_their_order() {
    let options = Options {
        timezone: Some("America/Chicago".to_owned()),
        ..Options::default()
    };
    let bytes = text("spot-dated.txt");
    let (found, summary) = rows(bytes.as_bytes(), &options).unwrap();
    let expected = [
        "2026-10-31 23:59:00 +n0 +n1",
        "2026-11-01 01:30:00 +n2 +n3",
        "2026-11-01 01:10:00 -n3",
        "2026-11-01 03:00:00 -n0 -n1 -n2",
        "2026-11-01 03:30:00 +n0",
    ];
    assert_eq!(found, expected);
    let hours = 2 * 91 + 4 * 40 + 3 * 110;
    assert_eq!(summary.quality.idle_lower, hours * 60);
    // Without the zone, the row of 1:10 is out of order.
    let (found, summary) = rows(bytes.as_bytes(), &Options::default()).unwrap();
    assert_eq!(found.len(), 4);
    assert_eq!(summary.log_counts.found[&Reason::Earlier].count, 1);
    let with_start = Options {
        start: Some("2026-01-01".to_owned()),
        ..Options::default()
    };
    let message = rows(bytes.as_bytes(), &with_start).unwrap_err().to_string();
    assert!(
        message.contains("--start is for traces in milliseconds"),
        "{message}"
    );
}

#[test]
fn faults_are_counted_and_left_out() {
    let trace = "0,add,a\n0,add,a\n5,remove,b\n5,7\nx,add,c\n-1,add,c\n9000,add,\n1,2,3,4\n\
                 9000,add,d\n8999,add,e\n9000,remove,a\n";
    let (found, summary) = rows(trace.as_bytes(), &Options::default()).unwrap();
    assert_eq!(
        found,
        ["1970-01-01 00:00:00 +a", "1970-01-01 00:00:09 -a +d"]
    );
    let counts = summary.log_counts.found.iter();
    let counts: Vec<_> = counts
        .map(|(reason, found)| (*reason, found.count))
        .collect();
    let expected = [
        (Reason::Unreadable, 5),
        (Reason::Earlier, 1),
        (Reason::NoChange, 2),
    ];
    assert_eq!(counts, expected);
    let strict = Options {
        strict: true,
        ..Options::default()
    };
    let message = rows(trace.as_bytes(), &strict).unwrap_err().to_string();
    assert!(
        message.contains("trace, line 2: found \"a\", which is there already"),
        "{message}"
    );
    let message = rows(b"a\n", &Options::default()).unwrap_err().to_string();
    assert!(
        message.contains("expected a trace of spot instances"),
        "{message}"
    );
}

/// The bytes of a shared sample. Each row has a time, and a count of idle nodes or the name of a
/// node that changes. `None` if the sample is missing.
fn shared(name: &str) -> Option<Vec<u8>> {
    let path = gleaner_testing::shared(&format!("machines/samples/{name}"))?;
    Some(std::fs::read(path).unwrap())
}

/// An event: its time, and the nodes that change. The flag of each node states whether it becomes
/// idle.
type Event = (i64, Vec<(usize, bool)>);

/// The events of the schedule from which other samples are generated, with the nodes n0 to n7.
fn truth() -> Option<Vec<Event>> {
    let path = gleaner_testing::shared("machines/samples/truth.csv")?;
    let log = events::read(&path).unwrap().value;
    let rows = log.rows().map(|(time, changes)| {
        let changes = changes
            .iter()
            .map(|change| (change.node() as usize, change.idle()));
        (time.second(), changes.collect())
    });
    Some(rows.collect())
}

/// The time of every change in the number of idle nodes, with the number after the change.
fn counts(rows: impl IntoIterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut sums: Vec<(i64, i64)> = Vec::new();
    for (time, change) in rows {
        let before = sums.last().map_or(0, |(_, sum)| *sum);
        if change != 0 {
            sums.push((time, before + change));
        }
    }
    sums
}

fn net(changes: impl IntoIterator<Item = bool>) -> i64 {
    changes
        .into_iter()
        .map(|idle| if idle { 1 } else { -1 })
        .sum()
}

#[test]
fn traces_of_one_schedule_agree_with_it() {
    let Some(truth) = truth() else {
        return;
    };
    let start = Options {
        start: Some("2021-05-21T00:00:00Z".to_owned()),
        ..Options::default()
    };
    let utc = Options {
        timezone: Some("UTC".to_owned()),
        ..Options::default()
    };
    let expected = counts(
        truth
            .iter()
            .map(|(time, changes)| (*time, net(changes.iter().map(|(_, idle)| *idle)))),
    );
    for (name, options) in [
        ("bamboo-trace.csv", &start),
        ("parcae-p3.csv", &start),
        ("gcloud-counts.txt", &utc),
    ] {
        let bytes = shared(name).unwrap();
        let log = read_bytes(Path::new(name), &bytes, options).unwrap();
        let mut rows = Vec::new();
        let sweep = log.sweep(|time, changes| {
            let changes = changes
                .iter()
                .map(|change| (change.node() as usize, change.idle()));
            rows.push((time.second(), changes.collect::<Vec<_>>()));
            Ok(())
        });
        let summary = sweep.unwrap();
        assert!(summary.log_counts.found.is_empty(), "{name}");
        let found = rows
            .iter()
            .map(|(time, changes)| (*time, net(changes.iter().map(|(_, idle)| *idle))));
        assert_eq!(counts(found), expected, "{name}");
        if name.starts_with("bamboo") {
            assert_eq!(rows, truth);
        }
    }
}

/// Compares the schedule with its log in the Standard Workload Format, which states the number of nodes of a job in the
/// last field.
#[test]
fn a_workload_with_nodes_in_the_last_field_agrees_with_its_schedule() {
    let (Some(truth), Some(bytes)) = (truth(), shared("frontier-2024.swf")) else {
        return;
    };
    let expected = counts(
        truth
            .iter()
            .map(|(time, changes)| (*time, net(changes.iter().map(|(_, idle)| *idle)))),
    );
    let options = gleaner_logs::scheduler::Options {
        are_nodes_last: true,
        ..support::between(Format::Swf, "2021-05-21T00:00:00Z", "2021-05-21T03:03:00Z")
    };
    let input = gleaner_logs::scheduler::Input::new(Path::new("log"), &bytes[..]);
    let holds = gleaner_logs::scheduler::read_inputs([input], &options).unwrap();
    let mut rows = Vec::new();
    holds
        .sweep(UnknownNodes::Deal, |event| {
            let idle = event.changes.iter().map(|change| change.idle());
            rows.push((event.time.second(), net(idle)));
            Ok(())
        })
        .unwrap();
    assert_eq!(counts(rows), expected);
}
