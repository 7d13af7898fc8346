//! Tests that jobs whose list of nodes is damaged or missing still hold nodes, and that undamaged lists are trusted.

use gleaner_domain::Quality;
use gleaner_logs::scheduler::{Format, Options, Summary};

use super::support::events;

/// Options that select the morning of 1 January 2026, from 8:00 to 12:00 UTC.
fn morning(format: Format) -> Options {
    Options {
        from: Some("2026-01-01T08:00:00".to_owned()),
        to: Some("2026-01-01T12:00:00".to_owned()),
        timezone: Some("UTC".to_owned()),
        ..Options::new(format)
    }
}

fn summary(log: &str, options: &Options) -> Summary {
    events(log.as_bytes(), options).unwrap().1
}

/// The lower and the upper bound on the idle time, in node-seconds.
fn bounds(quality: &Quality) -> (u64, u64) {
    (quality.idle_lower, quality.idle_upper)
}

/// The table that `sacct` prints for these jobs. A job is given as start, end, number of nodes and list of nodes.
fn sacct(jobs: &[(&str, &str, u32, &str)]) -> String {
    let mut log = "JobIDRaw|State|Start|End|NNodes|NodeList\n".to_owned();
    for (id, (start, end, count, list)) in jobs.iter().enumerate() {
        let [start, end] = [start, end].map(|time| format!("2026-01-01T{time}:00"));
        log += &format!("{id}|COMPLETED|{start}|{end}|{count}|{list}\n");
    }
    log
}

/// A table of four jobs, one per hour. `row` is the row of the second job. The other jobs each use three nodes for an
/// hour.
fn hourly(header: &str, row: &str) -> String {
    let quote = if header.contains(',') { "\"" } else { "" };
    let delimiter = if header.contains(',') { "," } else { "|" };
    let job = |hour: u32| {
        let times = [hour, hour + 1].map(|hour| format!("2026-01-01T{hour:02}:00:00"));
        let [start, end] = times;
        let list = format!("{quote}n01,n02,n03{quote}");
        [&hour.to_string(), "COMPLETED", &start, &end, "3", &list].join(delimiter)
    };
    [header, &job(8), row, &job(10), &job(11)].join("\n") + "\n"
}

/// An undamaged log in which each of twelve nodes runs `repeats` single-node jobs. Another job runs on the last three
/// nodes.
fn single_nodes(repeats: u32) -> String {
    let mut log = "JobIDRaw|State|Start|End|NNodes|NodeList\n".to_owned();
    for node in 1..=12 {
        for job in 0..repeats {
            log += &format!(
                "{node}{job}|COMPLETED|2026-01-01T{:02}:00:00|2026-01-01T{:02}:30:00|1|n{node}\n",
                8 + job,
                8 + job
            );
        }
    }
    log + "999|COMPLETED|2026-01-01T11:30:00|2026-01-01T12:00:00|3|n[10-12]\n"
}

#[test]
fn a_name_that_ends_two_lists_is_a_node_although_others_begin_with_it() {
    for repeats in [2, 3] {
        let summary = summary(&single_nodes(repeats), &morning(Format::Slurm));
        assert_eq!(summary.nodes, 12, "{summary}");
        let idle = 12 * 4 * 3600 - 12 * u64::from(repeats) * 1800 - 3 * 1800;
        assert_eq!(bounds(&summary.quality), (idle, idle), "{summary}");
        assert!(!summary.to_string().contains("problem"), "{summary}");
    }
}

/// A node that is missing from the node file is not mistaken for a truncated name if two jobs ran on it.
#[test]
fn a_node_outside_of_the_list_is_not_taken_for_a_cut_name() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes");
    std::fs::write(&nodes, "n[10-12]").unwrap();
    let options = Options {
        nodes: Some(nodes),
        ..morning(Format::Slurm)
    };
    let log = single_nodes(2);
    let uncounted = log
        .replace("|NNodes", "")
        .replace("|1|", "|")
        .replace("|3|", "|");
    for log in [log, uncounted] {
        let found = summary(&log, &options);
        let idle = 3 * (4 * 3600 - 3 * 1800);
        assert_eq!(bounds(&found.quality), (idle, idle), "{found}");
    }
}

#[test]
fn a_quote_that_is_not_closed_costs_only_the_list() {
    let bars = "JobIDRaw|State|Start|End|NNodes|NodeList";
    let commas = bars.replace('|', ",");
    let row = "9,COMPLETED,2026-01-01T09:00:00,2026-01-01T10:00:00,3,";
    for list in ["\"n[01-02", "\"n[01,02", "\"n01,n02,n0", "\""] {
        for (header, row) in [(bars, row.replace(',', "|")), (&commas, row.to_owned())] {
            let log = hourly(header, &(row + list));
            for format in [Format::Slurm, Format::Table] {
                let summary = summary(&log, &morning(format));
                assert_eq!(summary.nodes, 3, "{log}{summary}");
                assert_eq!(summary.log_counts.jobs, 4, "{log}{summary}");
                assert_eq!(bounds(&summary.quality), (0, 0), "{log}{summary}");
                assert!(
                    summary
                        .to_string()
                        .contains("problem   1 with a list of nodes that cannot be read"),
                    "{summary}"
                );
            }
        }
    }
}

#[test]
fn a_list_without_a_count_names_the_nodes_of_its_job() {
    let header = "START_TIMESTAMP,END_TIMESTAMP,NODES_USED,LOCATION\n";
    for count in ["", "0", "None"] {
        let mut log = header.to_owned();
        for (hour, count) in [(8, "3"), (9, count), (10, "3"), (11, "3")] {
            let (from, to) = (hour, hour + 1);
            log += &format!(
                "2026-01-01 {from:02}:00:00,2026-01-01 {to:02}:00:00,{count},\"x01,x02,x03\"\n"
            );
        }
        let found = summary(&log, &morning(Format::Djc));
        assert_eq!(bounds(&found.quality), (0, 0), "{found}");
        assert_eq!(found.log_counts.jobs, 4);
        // Without a list, the nodes of the job are unknown.
        let log = log.replace(&format!(",{count},\"x01,x02,x03\""), &format!(",{count},"));
        let found = summary(&log, &morning(Format::Djc));
        assert_eq!(bounds(&found.quality), (0, 3 * 3600), "{found}");
        assert!(found.quality.missing > 0);
    }
}

/// A job without a list may have used nodes that nothing else held, or shared nodes with another job.
#[test]
fn nodes_that_jobs_share_widen_the_bounds() {
    let log = sacct(&[
        ("08:00", "09:00", 4, "n[01-04]"),
        ("09:00", "11:00", 2, "n[01-02]"),
        ("09:00", "11:00", 2, "n[01-02]"),
        ("09:30", "10:30", 2, ""),
        ("11:00", "12:00", 4, "n[01-04]"),
    ]);
    let found = summary(&log, &morning(Format::Slurm));
    assert_eq!(bounds(&found.quality), (7_200, 14_400), "{found}");
    assert_eq!(found.quality.idle_counted, Some(7_200));
    assert!(
        found.to_string().contains("quality   jobs share nodes: "),
        "{found}"
    );
    // Without one of the two jobs on n[01-02], no node is shared, so the idle time is certain.
    let row = "2|COMPLETED|2026-01-01T09:00:00|2026-01-01T11:00:00|2|n[01-02]\n";
    let found = summary(&log.replace(row, ""), &morning(Format::Slurm));
    assert_eq!(bounds(&found.quality), (7_200, 7_200), "{found}");
    assert!(
        !found.to_string().contains("quality   jobs share nodes: "),
        "{found}"
    );
}

/// Without counts, a last name that no other list contains may be cut.
#[test]
fn a_cut_name_makes_no_node_without_counts() {
    let log = sacct(&[
        ("08:00", "09:00", 3, "n[01-03]"),
        ("09:00", "10:00", 3, "n01,n0"),
        ("10:00", "12:00", 3, "n[01-03]"),
    ]);
    let log = log.replace("|NNodes", "").replace("|3|", "|");
    let folder = tempfile::tempdir().unwrap();
    let nodes = folder.path().join("nodes");
    std::fs::write(&nodes, "n[01-03]").unwrap();
    for format in [Format::Slurm, Format::Table] {
        for nodes in [None, Some(nodes.clone())] {
            let options = Options {
                nodes,
                ..morning(format)
            };
            let found = summary(&log, &options);
            assert_eq!(found.nodes, 3, "{found}");
            assert_eq!(bounds(&found.quality), (0, 7_200), "{found}");
            assert!(
                found.to_string().contains("the last name is cut"),
                "{found}"
            );
        }
    }
    // If no list is cut, all nodes are known even without counts.
    let log = single_nodes(2)
        .replace("|NNodes", "")
        .replace("|1|", "|")
        .replace("|3|", "|");
    let found = summary(&log, &morning(Format::Slurm));
    assert_eq!((found.nodes, found.quality.unknown), (12, 0), "{found}");
}

/// A full hour of 1 January 2026, in seconds since 1970.
fn second(hour: i64) -> i64 {
    // 1 January 2026, 00:00 UTC.
    1_767_225_600 + hour * 3600
}

/// The accounting records of a job on `hosts`: its start, and its end if it has one.
fn records(id: u32, (from, to): (i64, Option<i64>), hosts: &str) -> Vec<(i64, String)> {
    let start = second(from);
    let mut records = vec![(
        from,
        format!("01/01/2026 {from:02}:00:00;S;{id}.s;start={start} exec_host={hosts}\n"),
    )];
    if let Some(to) = to {
        let end = second(to);
        records.push((
            to,
            format!(
                "01/01/2026 {to:02}:00:00;E;{id}.s;start={start} end={end} exec_host={hosts}\n"
            ),
        ));
    }
    records
}

/// The records of all jobs in chronological order.
fn accounts(jobs: &[((i64, Option<i64>), &str)]) -> String {
    let jobs = (1..).zip(jobs);
    let mut all: Vec<_> = jobs
        .flat_map(|(id, (times, hosts))| records(id, *times, hosts))
        .collect();
    all.sort_by_key(|(hour, _)| *hour);
    all.into_iter().map(|(_, record)| record).collect()
}

#[test]
fn accounting_records_with_damaged_hosts_leave_nodes_unknown() {
    for (format, whole, damaged) in [
        (Format::Pbs, "n1/0+n2/0+n3/0", ["n[1-", "", "n1/0+n[2"]),
        (Format::Cobalt, "n1:n2:n3", ["n[1-", "", "n1:n[2"]),
    ] {
        for (hosts, known) in damaged.into_iter().zip([0, 0, 1]) {
            for end in [Some(10), None] {
                let log = accounts(&[
                    ((8, Some(9)), whole),
                    ((9, end), hosts),
                    ((11, Some(12)), whole),
                ]);
                let found = summary(&log, &morning(format));
                let text = format!("{log}{found}");
                assert_eq!((found.nodes, found.log_counts.jobs), (3, 3), "{text}");
                let (lower, upper) = bounds(&found.quality);
                // If the job has no end, it may still be running on any nodes except those that a later job gets.
                match end {
                    Some(_) => assert_eq!((lower, upper), (3 * 3600, (6 - known) * 3600), "{text}"),
                    None => assert_eq!(upper, (6 - 2 * known) * 3600, "{text}"),
                }
            }
        }
    }
}

/// A job with neither known nodes nor an end makes all nodes unknown, except those that a later job gets.
#[test]
fn a_job_without_hosts_and_end_leaves_nodes_unknown() {
    let whole = "n1/0+n2/0+n3/0";
    for hosts in ["n[1-", ""] {
        let log = accounts(&[
            ((8, Some(9)), whole),
            ((9, None), hosts),
            ((12, None), "n1/0"),
        ]);
        let found = summary(&log, &morning(Format::Pbs));
        assert_eq!(found.nodes, 3, "{found}");
        assert_eq!(bounds(&found.quality), (3 * 3600, 9 * 3600), "{found}");
    }
}

#[test]
fn a_damaged_list_of_nodes_in_an_event_leaves_nodes_unknown() {
    let log = sacct(&[
        ("08:00", "09:00", 3, "n[01-03]"),
        ("11:00", "12:00", 3, "n[01-03]"),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events");
    for (list, expected) in [
        ("n[01-", (10_800, 21_600)),
        ("n[01,02", (10_800, 18_000)),
        ("n01", (18_000, 18_000)),
        ("\"n01\"", (18_000, 18_000)),
    ] {
        let event = format!("c|{list}|2026-01-01T09:00:00|2026-01-01T10:00:00|DOWN|x");
        let events = format!("Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n{event}\n");
        std::fs::write(&path, events).unwrap();
        let options = Options {
            events: Some(path.clone()),
            ..morning(Format::Slurm)
        };
        let found = summary(&log, &options);
        assert_eq!(bounds(&found.quality), expected, "{list}: {found}");
    }
}

/// Damaged lists in Python syntax are read up to the damage.
#[test]
fn a_damaged_python_list_leaves_nodes_unknown() {
    let header = "start,end,nnodes,nodes\n";
    let job = |from: u32, list: &str| {
        let to = from + 1;
        format!("2026-01-01T{from:02}:00:00,2026-01-01T{to:02}:00:00,3,\"{list}\"\n")
    };
    let whole = "['n1', 'n2', 'n3']";
    for damaged in ["['n1', 'n2', 'n", "['n1', 'n2'", "['n"] {
        let log = [
            header,
            &job(8, whole),
            &job(9, damaged),
            &job(10, whole),
            &job(11, whole),
        ]
        .concat();
        let found = summary(&log, &morning(Format::Table));
        assert_eq!((found.nodes, found.log_counts.jobs), (3, 4), "{found}");
        assert_eq!(bounds(&found.quality), (0, 0), "{found}");
        // If the last job also uses n4, n4 may be one of the nodes that cannot be read in the damaged list.
        let log = log.replace(
            "11:00:00,2026-01-01T12:00:00,3,\"['n1'",
            "11:00:00,2026-01-01T12:00:00,4,\"['n4', 'n1'",
        );
        let found = summary(&log, &morning(Format::Table));
        assert_eq!(found.nodes, 4, "{found}");
        let (lower, upper) = bounds(&found.quality);
        assert!(lower <= 10_800 && 10_800 <= upper, "{found}");
        assert!(found.quality.unreadable > 0, "{found}");
    }
}
