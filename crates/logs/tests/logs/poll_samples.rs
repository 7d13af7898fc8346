//! Tests the event logs built from published polls and from the sample polls in `dataset/logs`. The expected events of
//! the samples were worked out by hand.

use std::path::{Path, PathBuf};

use gleaner_domain::{UnknownNodes, Unobserved};
use gleaner_inputs::events;
use gleaner_inputs::write::events::EventWriter;
use gleaner_logs::polls::{Options, PollSummary, StateClass, read, read_bytes};

use super::support::{sample, text};

/// The events of polls, such as `00:15 -m3`: the minute and second of the hour, and the changes, where `+` means idle.
fn rows(bytes: &[u8], options: &Options) -> (Vec<String>, PollSummary) {
    let log = read_bytes(Path::new("polls"), bytes, options).unwrap();
    let nodes = log.nodes().to_vec();
    let mut rows = Vec::new();
    let summary = log.sweep(|time, changes| {
        let second = time.second() % 3600;
        let mut row = format!("{:02}:{:02}", second / 60, second % 60);
        for change in changes {
            row += if change.idle() { " +" } else { " -" };
            row += &nodes[change.node() as usize];
        }
        rows.push(row);
        Ok(())
    });
    (rows, summary.unwrap())
}

const LAST: &str = "12:00 +m1 +m2 +m3 +m4 +m5 +m6 +m7 +m8";

/// The sample lacks the poll at 01:00, node m7 in the poll at 01:45, and all polls from 02:15 to
/// 11:45.
#[test]
fn polls_of_sinfo() {
    let (found, summary) = rows(text("sinfo-polls.txt").as_bytes(), &Options::default());
    let expected = [
        "00:00 +m1 +m2 +m3",
        "00:15 -m3",
        "00:45 +m6",
        "01:15 -m1 -m2 +m4 +m5 -m6 +m8",
        "01:45 -m4 -m5",
        "02:00 +m5 +m7",
        "02:15 -m5 -m7 -m8",
        LAST,
        "12:15 -m7 -m8",
    ];
    assert_eq!(found, expected);
    let intervals = &summary.intervals;
    let figures = (intervals.polls(), intervals.median(), intervals.longest());
    assert_eq!(figures, (10, Some(15), Some(600)));
    // From 02:15 to 12:00, all nodes are unknown.
    let coverage = summary.coverage;
    assert_eq!(
        (coverage.unknown, coverage.uncovered, coverage.gaps),
        (0, 585, 1)
    );
    let of = |class: StateClass| summary.seconds[class.index()];
    assert_eq!(of(StateClass::Pilot), 30);
    assert_eq!(of(StateClass::Planned), 2 * 45);
    assert_eq!(of(StateClass::PoweredDown), 75);
    assert_eq!(summary.fragments, 17);
    let gap = summary.longest_gap.as_deref();
    assert_eq!(gap, Some("2026-11-23 17:02:15+00:00"));
}

#[test]
fn unknown_and_powered_down_nodes_may_be_idle() {
    let options = Options {
        is_unknown_idle: true,
        is_powered_down_idle: true,
        ..Options::default()
    };
    let (found, summary) = rows(text("sinfo-polls.txt").as_bytes(), &options);
    let expected = [
        "00:00 +m1 +m2 +m3 +m8",
        "00:15 -m3",
        "00:45 +m6",
        "01:15 -m1 -m2 +m4 +m5 -m6",
        "01:45 -m4 -m5",
        "02:00 +m5 +m7",
        "02:15 +m1 +m2 +m3 +m4 +m6",
        "12:15 -m7 -m8",
    ];
    assert_eq!(found, expected);
    let quality = &summary.quality;
    assert_eq!(quality.unknown_nodes, UnknownNodes::Idle);
    assert_eq!((quality.unknown, quality.uncovered), (0, 8 * 585));
}

/// With a longer allowed gap, the states of 02:00 hold until 12:00.
#[test]
fn a_longer_gap_keeps_states() {
    let options = Options {
        max_gap: Some(600),
        ..Options::default()
    };
    let (found, summary) = rows(text("sinfo-polls.txt").as_bytes(), &options);
    assert_eq!(found[6], "12:00 +m1 +m2 +m3 +m4 +m6");
    assert_eq!(summary.coverage.uncovered, 0);
    let options = Options {
        max_gap: Some(14),
        ..Options::default()
    };
    let log = read_bytes(
        Path::new("polls"),
        text("sinfo-polls.txt").as_bytes(),
        &options,
    );
    let message = log.err().unwrap().to_string();
    assert!(message.contains("at least 15 s"), "{message}");
}

#[test]
fn polls_of_hpc_whisk() {
    let (found, summary) = rows(text("whisk-polls.txt").as_bytes(), &Options::default());
    let expected = [
        "00:00 +p01 +p02 +p07",
        "00:21 -p01 +p04",
        "00:32 +p01 -p02 -p07",
        "00:42 +p03",
    ];
    assert_eq!(found, expected);
    let of = |class: StateClass| summary.seconds[class.index()];
    assert_eq!(of(StateClass::Pilot), 2 * 21 + 11);
    assert_eq!(of(StateClass::PoweredDown), 21 + 11);
    // Node `p09` is always powered down, so it is never idle and is not counted.
    assert_eq!(summary.nodes, 5);
}

/// The log was rotated, so its parts, sorted by name, are not in the order of their polls.
#[test]
fn files_are_read_in_order_of_their_polls() {
    let folder = tempfile::tempdir().unwrap();
    let all = text("sinfo-polls.txt");
    let (old, new) = all.split_at(all.find("1795453245").unwrap());
    let files = [("sinfo.log", new), ("sinfo.log.1", old)].map(|(name, part)| {
        let path = folder.path().join(name);
        std::fs::write(&path, part).unwrap();
        path
    });
    let whole = summary_of(&[sample("sinfo-polls.txt")]);
    let parts = summary_of(&files);
    assert_eq!(parts.swept, whole.swept);
    assert!(parts.log_counts.found.is_empty());
}

fn summary_of(files: &[PathBuf]) -> PollSummary {
    let log = read(files, &Options::default(), &Unobserved).unwrap();
    log.sweep(|_, _| Ok(())).unwrap()
}

#[test]
fn polls_at_one_time_are_too_few() {
    let log = read_bytes(
        Path::new("polls"),
        b"10 idle n1\n9 idle n2\n",
        &Options::default(),
    );
    let message = log.err().unwrap().to_string();
    assert!(
        message.contains("polls: found 2 lines, none usable"),
        "{message}"
    );
    assert!(
        message.contains("expected polls at two different times"),
        "{message}"
    );
    assert!(
        message.contains("1 not in chronological order"),
        "{message}"
    );
}

/// Compares the event log of published polls with the event log in a file, and returns the summary.
fn assert_equals_file(polls: &str, expected: &str, options: &Options) -> Option<PollSummary> {
    let file = |name: &str| gleaner_testing::shared(&format!("machines/{name}"));
    let (polls, expected) = (file(polls)?, file(expected)?);
    let log = read(&[polls], options, &Unobserved).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.gev");
    let mut writer = EventWriter::create_on(&path, log.nodes(), log.clock(), None).unwrap();
    let summary = log.sweep(|time, changes| writer.push(time, changes, None));
    let summary = summary.unwrap();
    writer.finish(Some(&summary.quality)).unwrap();
    let [found, expected] = [path, expected].map(|path| events::read(&path).unwrap().value);
    // The expected file has only the nodes that are idle at some time, so nodes are compared by name.
    let named = |log: &gleaner_domain::EventLog| {
        let rows = log.rows().map(|(time, changes)| {
            let changes = changes
                .iter()
                .map(|change| (log.nodes()[change.node() as usize].clone(), change.idle()));
            let mut changes: Vec<_> = changes.collect();
            changes.sort();
            (time, changes)
        });
        rows.collect::<Vec<_>>()
    };
    assert_eq!(named(&found), named(&expected));
    assert_eq!(found.clock(), expected.clock());
    assert_eq!(found.quality(), Some(&summary.quality));
    Some(summary)
}

#[test]
fn published_polls_of_a_day_give_the_expected_log() {
    let options = Options {
        timezone: Some("Europe/Warsaw".to_owned()),
        ..Options::default()
    };
    let name = "whisk/17_03_2022_idle_nodes.txt";
    let Some(summary) = assert_equals_file(name, "whisk/17-march-expected.csv", &options) else {
        return;
    };
    assert_eq!(summary.intervals.polls(), 8057);
    assert_eq!((summary.swept.events, summary.swept.changes), (1313, 3186));
    assert_eq!(summary.nodes, 620);
    assert_eq!(summary.swept.shares.idle, 1_012_518.0);
    assert_eq!(format!("{:.3}", 100.0 * summary.standard_error), "0.017");
    let without = summary.seconds[StateClass::Idle.index()];
    assert_eq!(without, 102_935);
    let off = summary.seconds[StateClass::PoweredDown.index()] as f64;
    assert_eq!(format!("{:.2}", off / summary.swept.shares.idle), "0.21");
}

#[test]
fn sample_polls_give_the_expected_log() {
    let options = Options::default();
    assert_equals_file("samples/polls.txt", "samples/polls-expected.csv", &options);
}
