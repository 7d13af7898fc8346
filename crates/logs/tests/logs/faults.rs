//! Tests that readers count and show the faults in damaged copies of the samples. Faults are an error only if nothing
//! usable remains, or with `--strict`.

use gleaner_logs::scheduler::{Format, Options, Reason, read_events_only, read_nodes};

use super::support::{between, events, sample, text};

/// Reads a sample in which `from` is replaced with `to`. Returns the number of faults that this causes, and their first
/// example.
fn damaged(name: &str, options: &Options, from: &str, to: &str) -> (u64, String) {
    let whole = text(name);
    assert!(whole.contains(from), "{name} lacks {from:?}");
    let log = whole.replacen(from, to, 1);
    let (_, summary) = events(log.as_bytes(), options).unwrap();
    let mut faults = summary.log_counts.found.iter();
    let fault = faults.find(|(reason, _)| reason.is_fault() && **reason != Reason::Overlap);
    let (reason, found) = fault.unwrap_or_else(|| panic!("{from:?} as {to:?} is no fault"));
    let strict = Options {
        strict: true,
        ..options.clone()
    };
    let error = events(log.as_bytes(), &strict).unwrap_err();
    assert_eq!(error.exit_code(), 3, "{error}");
    (
        found.count,
        format!("{} | {}", reason.words(), found.example),
    )
}

#[track_caller]
fn assert_fault(name: &str, options: &Options, from: &str, to: &str, expected: &str) {
    let (count, words) = damaged(name, options, from, to);
    assert_eq!(count, 1, "{words}");
    assert!(words.contains(expected), "{words}");
}

#[test]
fn slurm() {
    let options = Options::new(Format::Slurm);
    for (from, to, expected) in [
        (
            "n[01-02]\n",
            "n[01-02\n",
            "cannot be read (the nodes missing from it are unknown) | log, line 2: a list of nodes with brackets",
        ),
        (
            "T09:00:00|2|",
            "T07:00:00|2|",
            "with an end before the start | log, line 2: an end 3600 s",
        ),
        (
            "T08:00:00|2026-01-01T10",
            "T08:00:61|2026-01-01T10",
            "line 3: \"2026-01-01T08:00:61\" is not a time",
        ),
        (
            "|1|n03",
            "|1",
            "cannot be read | log, line 3: 6 cells, not 7",
        ),
        (
            "|1|n03",
            "|1|",
            "ran on unknown nodes | log, line 3: TIMEOUT on \"\"",
        ),
        (
            "|1|n03",
            "|7|n03",
            "that list fewer nodes than they used (the other nodes are unknown) | log, line 3: 7 nodes, but a list of 1",
        ),
        (
            "T10:00:00|1|n03",
            "Unknown|1|n03",
            "\"2026-01-01Unknown\" is not a time",
        ),
        (
            "2026-01-01T10:00:00|1|n03",
            "Unknown|1|n03",
            "that ended without an end time | log, line 3: TIMEOUT without an end",
        ),
    ] {
        assert_fault("sacct.txt", &options, from, to, expected);
    }
    let machine = Options {
        nodes: Some(sample("sinfo.txt")),
        ..options
    };
    // Users are allowed to leave nodes out of the list. This is not a fault, so even a strict reader does not stop.
    let log = text("sacct.txt").replacen("n[01-02]", "n[01,99]", 1);
    let (_, summary) = events(log.as_bytes(), &machine).unwrap();
    assert!(!Reason::OtherNodes.is_fault());
    assert_eq!(
        summary.log_counts.found[&Reason::OtherNodes].example,
        "log, line 2: 1 node not in the list of nodes, such as n99"
    );
}

#[test]
fn pbs_and_cobalt() {
    let pbs = Options::new(Format::Pbs);
    for (from, to, expected) in [
        (
            "01/01/2026 07:50:00;Q",
            "2026-01-01;Q",
            "log, line 1: \"2026-01-01\" is not a time such as",
        ),
        (
            "start=1767255000",
            "start=soon",
            "log, line 4: \"soon\" is not a valid start in epoch seconds",
        ),
        (
            "end=1767258000",
            "end=1767250000",
            "with an end before the start | log, line 5: an end 4400 s",
        ),
        (
            ";S;3.pbs",
            ";S;2.pbs",
            "started again without an end (they end at the new start) | log, line 8: 2.pbs",
        ),
        (
            "exec_host=p3/0+p3/1",
            "",
            "ran on unknown nodes | log, line 8: S of 3.pbs without nodes",
        ),
        (
            ";L;license;",
            " license ",
            "log, line 3: a line without the three semicolons",
        ),
    ] {
        assert_fault("pbs.txt", &pbs, from, to, expected);
    }
    let cobalt = Options::new(Format::Cobalt);
    for (from, to, expected) in [
        (
            "end=1767258000.77",
            "end=nan",
            "log, line 5: \"nan\" is not a valid end",
        ),
        (
            "\"nid00003,nid00004\"",
            "nid[1",
            "log, line 8: a list of nodes with brackets",
        ),
    ] {
        assert_fault("cobalt.log", &cobalt, from, to, expected);
    }
}

#[test]
fn djc_and_swf() {
    let djc = Options {
        node_count: Some(6),
        ..Options::new(Format::Djc)
    };
    for (from, to, expected) in [
        (
            "09:00:00.500000,17,4",
            "07:00:00,17,4",
            "log, line 2: an end 3600 s before the start",
        ),
        (
            "17,2.0,2",
            "17,2.5,2",
            "ran on unknown nodes | log, line 3: a job that states neither its nodes nor their number",
        ),
        (
            "\"2, a.theta\"",
            "2, a.theta",
            "log, line 3: 12 cells, not 11",
        ),
        (
            "17,4,4",
            "17,7,7",
            "more nodes than the machine has (all its nodes are used) | log, line 2: 7 nodes, of 6",
        ),
    ] {
        assert_fault("djc.csv", &djc, from, to, expected);
    }
    let swf = Options::new(Format::Swf);
    for (from, to, expected) in [
        (
            "1 0 0 3600 16 -1",
            "1 0 0 3600 16",
            "log, line 8: 17 fields, not the 18 of the format (job number, submit time, wait time,",
        ),
        (
            "1 0 0 3600 16 -1",
            "1 0 0 3600 x -1",
            "log, line 8: \"x\" is not a number (allocated processors)",
        ),
        ("3600 16", "3600 160", "log, line 8: 20 nodes, of 3"),
        (
            "9 -1 -1 9",
            "-1 -1 -1 -1",
            "log, line 10: no number of processors",
        ),
    ] {
        assert_fault("workload.swf", &swf, from, to, expected);
    }
}

#[test]
fn jobs_without_enough_free_nodes_are_counted() {
    let log = text("workload.swf").replace(" 2700 1800 9 ", " 0 1800 9 ");
    let (_, summary) = events(log.as_bytes(), &Options::new(Format::Swf)).unwrap();
    let found = &summary.log_counts.found[&Reason::NotEnoughFree];
    assert_eq!(
        (found.count, found.example.as_str()),
        (1, "log, line 10: 2 nodes too few")
    );
}

/// Found by fuzzing: the memory used must not depend on the number of nodes that a file states.
#[test]
fn absurd_numbers_of_nodes_do_not_size_the_machine() {
    let log = text("workload.swf").replace("MaxNodes: 3", "MaxNodes: 4000000000");
    let log = log
        .replace("MaxProcs: 24", "MaxProcs: 4")
        .replace("3600 16", "3600 3999999999");
    let (_, summary) = events(log.as_bytes(), &Options::new(Format::Swf)).unwrap();
    assert_eq!(
        summary.log_counts.found[&Reason::Unreadable].example,
        "log, line 8: 3999999999 nodes"
    );
    assert!(summary.nodes < 100, "{summary}");
    let log = text("djc.csv").replace("17,4,4", "17,4294967295,4");
    let (_, summary) = events(log.as_bytes(), &Options::new(Format::Djc)).unwrap();
    assert_eq!((summary.nodes, summary.log_counts.jobs), (3, 2));
}

#[test]
fn node_events_and_lists_of_nodes() {
    let name = std::path::Path::new("events");
    let log = text("sacctmgr-events.txt").replace("T11:30:00|DOWN*", "T09:30:00|DOWN*");
    let log_counts = read_events_only(name, log.as_bytes()).unwrap();
    let found = &log_counts.found[&Reason::EndsBeforeStart];
    assert_eq!(
        found.example,
        "events, line 3: an end 3000 s before the start"
    );
    let log = text("sacctmgr-events.txt").replace("NodeName", "Node");
    let message = read_events_only(name, log.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("events, line 1, NodeName: found no such column"),
        "{message}"
    );
    assert!(
        message.contains("make the file with `sacctmgr -P list events"),
        "{message}"
    );
    for list in ["scontrol-nodes.txt", "sinfo.txt"] {
        let damaged = text(list).replace("n02 ", "n[02 ");
        let message = read_nodes(name, damaged.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("found \"n[02\", which is a list with brackets"),
            "{message}"
        );
    }
}

#[test]
fn missing_columns_are_named_with_the_command() {
    let log = text("sacct.txt")
        .replacen("NodeList", "Nodes", 1)
        .replacen("|End|", "|Ended|", 1);
    let error = events(log.as_bytes(), &Options::new(Format::Slurm)).unwrap_err();
    let message = error.to_string();
    for part in [
        "log, line 1, NodeList: found no such column",
        "log, line 1, End: found no such column",
        "`sacct -a -X -P -D -S <from> -E <to> -o JobIDRaw,State,Submit,Start,End,NNodes,NodeList`",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(error.exit_code(), 3);
    let log = text("djc.csv").replacen("NODES_USED", "NODES", 1);
    let message = events(log.as_bytes(), &Options::new(Format::Djc))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("log, line 1, NODES_USED: found no such column among"),
        "{message}"
    );
}

#[test]
fn a_log_without_a_usable_line_is_an_error() {
    for (format, log, part) in [
        (
            Format::Slurm,
            "",
            "0 lines, none usable, expected at least one job that ran, from `sacct",
        ),
        (
            Format::Pbs,
            "hello\n",
            "1 that cannot be read, such as log, line 1: a line without",
        ),
        (Format::Cobalt, "\u{0}\u{1}", "none usable"),
        (
            Format::Djc,
            "START_TIMESTAMP,END_TIMESTAMP,NODES_USED\n",
            "expected at least one job",
        ),
        (
            Format::Djc,
            "START_TIMESTAMP,END_TIMESTAMP,NODES_USED\n2026-01-01,2026-01-01,4\n",
            "expected jobs that start and end at different times",
        ),
        (
            Format::Swf,
            "; MaxNodes: 4\n",
            "expected at least one job that ran, from the Parallel Workloads Archive",
        ),
    ] {
        let error = events(log.as_bytes(), &Options::new(format)).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn invalid_windows_are_wrong_usage() {
    let log = text("sacct.txt");
    for (from, to, part) in [
        (
            "2026-01-02",
            "2026-01-01",
            "would cover 2026-01-02 00:00:00 to 2026-01-01 00:00:00, but",
        ),
        ("soon", "2026-01-01", "--from soon: expected a time"),
    ] {
        let options = between(Format::Slurm, from, to);
        let error = events(log.as_bytes(), &options).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn phillys_event_log() {
    let options = Options {
        nodes: Some(sample("philly-machines.csv")),
        ..Options::new(Format::Philly)
    };
    let log = text("philly-jobs.json");
    for (from, to, reason, expected) in [
        (
            "\"2017-10-07 08:30:10\"",
            "null",
            Reason::StartsAgain,
            "log, job 1: attempt 1 without an end before the next attempt",
        ),
        (
            "\"ip\": \"m3\"",
            "\"ip\": \"m9\"",
            Reason::OtherNodes,
            "log, job 2: 1 node not in the list of nodes, such as m9",
        ),
        (
            "{\"ip\": \"m2\", \"gpus\": []}",
            "",
            Reason::NoNodes,
            "log, job 6: attempt 1 without machines",
        ),
        (
            "07 10:05:00",
            "07 07:05:00",
            Reason::EndsBeforeStart,
            "log, job 2: an end 3600 s before the start",
        ),
    ] {
        assert!(log.contains(from), "no {from:?}");
        let (_, summary) = events(log.replacen(from, to, 1).as_bytes(), &options).unwrap();
        assert_eq!(summary.log_counts.found[&reason].example, expected);
    }
}
