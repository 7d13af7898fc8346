//! Jobs whose list of nodes is damaged or missing held their nodes all the same, and undamaged lists are trusted.

use gleaner_domain::Quality;
use gleaner_logs::scheduler::{Format, Options, Summary};

use super::support::events;

/// Options for the morning of 1 January 2026.
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

/// The bounds on the idleness, in node-seconds.
fn bounds(quality: &Quality) -> (u64, u64) {
    (quality.idle_lower, quality.idle_upper)
}

/// The header of sacct's table, and a row for each job: start, end, number of nodes and list.
fn sacct(jobs: &[(&str, &str, u32, &str)]) -> String {
    let mut log = "JobIDRaw|State|Start|End|NNodes|NodeList\n".to_owned();
    for (id, (start, end, count, list)) in jobs.iter().enumerate() {
        let [start, end] = [start, end].map(|time| format!("2026-01-01T{time}:00"));
        log += &format!("{id}|COMPLETED|{start}|{end}|{count}|{list}\n");
    }
    log
}

/// A table with a job of three nodes in each of four hours. `row` is the row of the second job.
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

/// An undamaged log in which each of twelve nodes runs `repeats` jobs on its own. One job runs on the last three nodes.
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
                        .contains("problem   1 that cannot be read"),
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

/// A job without a list may use the nodes that nothing else holds, or nodes that another job holds.
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
    // Without the second job no node is shared, so the idle time is certain.
    let row = "2|COMPLETED|2026-01-01T09:00:00|2026-01-01T11:00:00|2|n[01-02]\n";
    let found = summary(&log.replace(row, ""), &morning(Format::Slurm));
    assert_eq!(bounds(&found.quality), (7_200, 7_200), "{found}");
    assert!(!found.to_string().contains("share"), "{found}");
}
