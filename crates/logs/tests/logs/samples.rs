//! Tests the readers with the small logs in `dataset/logs`, at least one for every documented format. The expected
//! events were worked out by hand.

use std::io::Write;

use gleaner_logs::scheduler::{Format, Options, Reason};

use super::support::{between, events, events_of, sample, text};

#[track_caller]
fn assert_events(found: &[String], day: &str, expected: &[&str]) {
    let expected: Vec<_> = expected.iter().map(|row| format!("{day} {row}")).collect();
    assert_eq!(found, expected);
}

const SLURM: [&str; 10] = [
    "08:00:00 +n04 +n05",
    "09:00:00 +n02",
    "09:30:00 +n01",
    "09:40:00 -n04",
    "10:00:00 -n01 -n02 +n03",
    "10:20:00 +n01",
    "11:00:00 -n01 -n03 +n04",
    "11:10:00 -n04",
    "11:30:00 +n02",
    "12:00:00",
];

#[test]
fn slurm_with_its_nodes_and_node_events() {
    for list in ["scontrol-nodes.txt", "sinfo.txt"] {
        let options = Options {
            nodes: Some(sample(list)),
            events: Some(sample("sacctmgr-events.txt")),
            ..between(Format::Slurm, "2026-01-01T08:00:00", "2026-01-01T12:00:00")
        };
        let (rows, summary) = events_of("sacct.txt", &options);
        assert_events(&rows, "2026-01-01", &SLURM);
        let log_counts = &summary.log_counts;
        assert_eq!(
            (
                log_counts.lines,
                log_counts.jobs,
                log_counts.running,
                log_counts.outages
            ),
            (13, 6, 1, 2)
        );
        assert_eq!(log_counts.found[&Reason::NeverStarted].count, 2);
        let overlap = &log_counts.found[&Reason::Overlap];
        assert_eq!(overlap.example, "n04 at 2026-01-01 10:00:00");
        // Worked out by hand: in 4 hours of 5 nodes, 9.5 node-hours are idle.
        assert_eq!(summary.swept.shares.idle, 9.5 * 3600.0);
        assert_eq!(summary.swept.shares.total(), 20.0 * 3600.0);
    }
}

#[test]
fn slurm_alone_is_complete_from_the_first_end_to_the_last_start() {
    let (rows, summary) = events_of("sacct.txt", &Options::new(Format::Slurm));
    assert_eq!(rows[0], "2026-01-01 09:00:00 +n02 +n04");
    assert_eq!(rows.last().unwrap(), "2026-01-01 11:00:00 -n01 -n03 +n04");
    assert!(summary.notes[0].contains("complete only from 2026-01-01 09:00:00"));
    assert!(summary.notes[1].contains("the 4 nodes that the log names"));
}

#[test]
fn slurm_with_another_delimiter_and_columns() {
    let log = text("sacct.txt")
        .replace("|Submit|", "|JobName|")
        .replace('|', "^^");
    let options = Options {
        delimiter: Some("^^".to_owned()),
        ..Options::new(Format::Slurm)
    };
    let (rows, _) = events(log.as_bytes(), &options).unwrap();
    let (expected, _) = events_of("sacct.txt", &Options::new(Format::Slurm));
    assert_eq!(rows, expected);
    let log = text("sacct.txt").replace("|Submit|", "|JobName|");
    let log = log.replace("2026-01-01T07:50:00|", "a|b|c|");
    assert_eq!(
        events(log.as_bytes(), &Options::new(Format::Slurm))
            .unwrap()
            .0,
        expected
    );
}

/// The job was still running when the first list was written. A later list reports the end of the
/// job.
#[test]
fn a_later_slurm_list_adds_the_end_of_a_job() {
    let log = text("sacct.txt");
    let end =
        "106|COMPLETED|2026-01-01T09:10:00|2026-01-01T11:00:00|2026-01-01T11:20:00|2|n[01,03]\n";
    let header = log.lines().next().unwrap();
    let both = format!("{log}{header}\n{end}");
    let options = between(Format::Slurm, "2026-01-01T08:00:00", "2026-01-01T12:00:00");
    let (rows, summary) = events(both.as_bytes(), &options).unwrap();
    assert!(
        rows.contains(&"2026-01-01 11:20:00 +n01 +n03".to_owned()),
        "{rows:?}"
    );
    assert_eq!(summary.log_counts.running, 0);
}

#[test]
fn pbs() {
    let (rows, summary) = events_of("pbs.txt", &Options::new(Format::Pbs));
    let expected = [
        "08:00:00 +p3",
        "08:10:00 -p3",
        "09:00:00 +p1 +p2",
        "09:10:00 +p3",
        "09:20:00 -p1 -p2",
        "09:30:00 -p3",
        "10:00:00 +p1 +p2",
    ];
    assert_events(&rows, "2026-01-01", &expected);
    assert_eq!(
        (summary.log_counts.jobs, summary.log_counts.running),
        (4, 1)
    );
}

#[test]
fn a_pbs_job_that_is_aborted_as_it_starts_holds_nothing() {
    let start = "01/01/2026 10:05:00;S;9.pbs;start=1767261900 exec_host=p1/0\n";
    let abort = "01/01/2026 10:05:00;A;9.pbs;\n";
    let log = text("pbs.txt") + start + abort;
    let (rows, summary) = events(log.as_bytes(), &Options::new(Format::Pbs)).unwrap();
    assert_eq!(rows.last().unwrap(), "2026-01-01 10:05:00");
    assert_eq!(summary.log_counts.jobs, 5);
}

const COBALT: [(&str, &str); 6] = [
    ("00:00", "+nid00004"),
    ("10:00", "-nid00004"),
    ("00:00", "+nid00001 +nid00002 +nid00003"),
    ("30:00", "+nid00004"),
    ("40:00", "-nid00002"),
    ("00:00", "-nid00003 -nid00004"),
];

/// The timestamps of records are local times, 6 hours behind the times of the jobs, which are in UTC. The log therefore
/// implies the offset of local time from UTC.
#[test]
fn cobalt_in_its_zone() {
    for zone in [None, Some("America/Chicago"), Some("-06:00")] {
        let options = Options {
            timezone: zone.map(str::to_owned),
            ..Options::new(Format::Cobalt)
        };
        let (rows, _) = events_of("cobalt.log", &options);
        let expected: Vec<_> = [2, 2, 3, 3, 3, 4]
            .iter()
            .zip(COBALT)
            .map(|(hour, (rest, nodes))| format!("2026-01-01 {hour:02}:{rest} {nodes}"))
            .collect();
        assert_eq!(rows, expected);
    }
}

#[test]
fn djc_counts_and_locations() {
    let (rows, summary) = events_of("djc.csv", &Options::new(Format::Djc));
    let expected = [
        "08:00:00 +n4 +n5",
        "08:30:00 -n4 -n5",
        "09:00:00 +n1 +n2 +n3",
        "09:30:00 +n0",
        "10:00:00 +n4 +n5",
    ];
    assert_events(&rows, "2026-01-01", &expected);
    let notes = summary.notes.join("\n");
    assert!(
        notes.contains("assigned the free nodes with the lowest indexes among 6 nodes"),
        "{notes}"
    );
    assert!(notes.contains("treated as UTC"), "{notes}");
    let (rows, _) = events_of("djc-locations.csv", &Options::new(Format::Djc));
    let expected = [
        "08:00:00 +22",
        "08:30:00 -22",
        "09:00:00 +20 +21 +24",
        "09:30:00 -20 -24",
        "10:00:00 +20 +22 +24",
    ];
    assert_events(&rows, "2026-01-01", &expected);
}

#[test]
fn swf_by_its_header_and_by_flags() {
    let (rows, summary) = events_of("workload.swf", &Options::new(Format::Swf));
    let expected = [
        "08:00:00 +n2",
        "08:10:00 -n2",
        "08:40:00 +n2",
        "09:30:00 +n0 +n1",
    ];
    assert_events(&rows, "2026-01-01", &expected);
    assert_eq!(summary.log_counts.found[&Reason::NeverStarted].count, 1);
    // With four processors per node, the jobs use 4, 2 and 3 nodes of a machine with 6 nodes.
    let options = Options {
        cores_per_node: Some(4),
        node_count: Some(6),
        ..Options::new(Format::Swf)
    };
    let (rows, _) = events_of("workload.swf", &options);
    let expected = [
        "08:00:00 +n4 +n5",
        "08:10:00 -n4 -n5",
        "08:40:00 +n4 +n5",
        "09:00:00 +n3",
        "09:30:00 +n0 +n1 +n2",
    ];
    assert_events(&rows, "2026-01-01", &expected);
}

#[test]
fn compressed_logs_give_the_same_events() {
    let plain = text("sacct.txt");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain.as_bytes()).unwrap();
    let (expected, _) = events_of("sacct.txt", &Options::new(Format::Slurm));
    for bytes in [
        gzip.finish().unwrap(),
        zstd::encode_all(plain.as_bytes(), 1).unwrap(),
    ] {
        let (rows, _) = events(&bytes, &Options::new(Format::Slurm)).unwrap();
        assert_eq!(rows, expected);
    }
}

#[test]
fn phillys_machines_are_idle_while_no_attempt_has_their_gpus() {
    let (from, to) = ("2017-10-07 08:00:00", "2017-10-07 10:10:00");
    let options = Options {
        nodes: Some(sample("philly-machines.csv")),
        ..between(Format::Philly, from, to)
    };
    let (rows, summary) = events_of("philly-jobs.json", &options);
    let expected = [
        "08:00:00 +m1 +m2 +m3",
        "08:00:10 -m1",
        "08:05:00 -m3",
        "08:30:10 +m1",
        "08:40:00 -m2",
        "09:00:00 -m1 +m2",
        "09:20:00 -m2",
        "09:25:00 +m2",
        "09:40:00 -m2",
        "10:00:00 +m2",
        "10:05:00 +m3",
        "10:10:00",
    ];
    let expected = expected.map(|row| format!("2017-10-07 {row}"));
    assert_eq!(rows, expected);
    let log_counts = &summary.log_counts;
    assert_eq!(
        (log_counts.lines, log_counts.jobs, log_counts.running),
        (7, 7, 1)
    );
    assert_eq!(log_counts.found[&Reason::Overlap].count, 2);
    let found = &log_counts.found[&Reason::NoRun].example;
    assert_eq!(found, "log, job 4: attempt 1 without a start");
}
