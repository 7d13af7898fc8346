//! Tests the conversion of local times in schedulers' logs, including when the clock is put forward or back. The zone
//! is implied by the log, stated in the log, or set by the user.

use gleaner_domain::{Local, Stamp};
use gleaner_logs::scheduler::{Format, Options, Reason, Summary, stamp};
use proptest::prelude::*;

use super::support::{between, events, month_first, sample, text};

const HOUR: i64 = 3600;
/// 2026-03-08 08:00 UTC, when Chicago's clock is put forward from 2:00 to 3:00.
const SPRING: i64 = 1_772_956_800;
/// 2026-11-01 07:00 UTC, when Chicago's clock is put back from 2:00 to 1:00.
const AUTUMN: i64 = 1_793_516_400;

/// Chicago's offset from UTC, in seconds, at a time in 2026.
fn offset(second: i64) -> i64 {
    if (SPRING..AUTUMN).contains(&second) {
        -5 * HOUR
    } else {
        -6 * HOUR
    }
}

fn local(second: i64) -> String {
    Local::from_seconds(second + offset(second)).to_string()
}

fn american(second: i64) -> String {
    month_first(&local(second))
}

/// PBS records of one-hour jobs that run one after another, alternating between two nodes. The end of job `at` is
/// recorded `late` seconds late.
fn pbs(start: i64, count: i64, at: i64, late: i64) -> String {
    let mut log = String::new();
    for job in 0..count {
        let (from, to) = (start + job * HOUR, start + (job + 1) * HOUR);
        let node = job % 2;
        let stamp = american(from);
        log += &format!("{stamp};S;{job}.pbs;start={from} exec_host=n{node}/0\n");
        let stamp = american(to + if job == at { late } else { 0 });
        log += &format!("{stamp};E;{job}.pbs;start={from} end={to} exec_host=n{node}/0\n");
    }
    log
}

fn read(log: &str, options: &Options) -> (Vec<String>, Summary) {
    events(log.as_bytes(), options).unwrap()
}

fn notes(summary: &Summary) -> String {
    summary.notes.join("\n")
}

// The timestamps are Chicago's local times, before and after the clock change in spring.
#[test]
fn accounting_records_imply_local_time() {
    let start = SPRING - 12 * HOUR;
    let (rows, summary) = read(&pbs(start, 24, -1, 0), &Options::new(Format::Pbs));
    assert_eq!(summary.span.0, format!("{}-06:00", local(start)));
    assert_eq!(
        summary.span.1,
        format!("{}-05:00", local(start + 24 * HOUR))
    );
    // Events are an hour apart, even across the change of the clock.
    let times: Vec<Local> = rows.iter().map(|row| row[..19].parse().unwrap()).collect();
    assert!(
        times
            .windows(2)
            .all(|pair| pair[1].seconds_since(pair[0]) == 3600.0),
        "{rows:?}"
    );
    let expected = "times are local times, as stated in the log: UTC-06:00, \
                    UTC-05:00 from 2026-03-08 03:00:00";
    assert!(notes(&summary).contains(expected), "{:?}", summary.notes);
    // The start and end of the window are local times.
    let options = between(Format::Pbs, "2026-03-08T01:00:00", "2026-03-08T04:00:00");
    let (rows, summary) = read(&pbs(start, 24, -1, 0), &options);
    assert_eq!(rows.len(), 3);
    assert_eq!(summary.span.0, "2026-03-08 01:00:00-06:00");
    assert_eq!(summary.span.1, "2026-03-08 04:00:00-05:00");
}

#[test]
fn a_zone_that_the_records_contradict_is_remarked_upon() {
    let log = pbs(SPRING, 5, -1, 0);
    for (zone, told) in [
        ("America/Chicago", false),
        ("-05:00", false),
        ("Asia/Tokyo", true),
    ] {
        let options = Options {
            timezone: Some(zone.to_owned()),
            ..Options::new(Format::Pbs)
        };
        let (_, summary) = read(&log, &options);
        let remark =
            format!("local times of {zone}, although the lines of the log imply UTC-05:00");
        assert_eq!(
            notes(&summary).contains(&remark),
            told,
            "{:?}",
            summary.notes
        );
    }
}

#[test]
fn lines_that_disagree_are_remarked_upon() {
    let log = pbs(AUTUMN - 15 * HOUR, 10, 4, 3 * HOUR);
    let (_, summary) = read(&log, &Options::new(Format::Pbs));
    let expected = "as stated in the log: UTC-05:00; some lines show UTC-02:00 instead";
    assert!(notes(&summary).contains(expected), "{:?}", summary.notes);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(24))]

    // A single late record changes nothing, however late it is.
    #[test]
    fn a_late_record_does_not_change_the_clock(at in 0i64..30, late in 0i64..20_000) {
        let start = AUTUMN - 15 * HOUR;
        let options = Options::new(Format::Pbs);
        let (expected, usual) = read(&pbs(start, 30, -1, 0), &options);
        let (rows, summary) = read(&pbs(start, 30, at, late), &options);
        prop_assert_eq!(rows, expected);
        prop_assert_eq!(summary.span, usual.span);
    }
}

const HEADER: &str = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n";

fn in_chicago() -> Options {
    Options {
        timezone: Some("America/Chicago".to_owned()),
        ..Options::new(Format::Slurm)
    }
}

// There are 170 minutes from 0:50-05:00 to 2:40-06:00, and 20 minutes from 1:50-05:00 to 1:10-06:00.
#[test]
fn an_hour_that_occurs_twice_is_resolved_by_the_order_of_a_jobs_times() {
    let day = "2026-11-01T";
    let log = format!(
        "{HEADER}1|COMPLETED|{day}00:10:00|{day}00:50:00|{day}02:40:00|1|a\n\
         2|COMPLETED|{day}01:45:00|{day}01:50:00|{day}01:10:00|1|b\n\
         3|COMPLETED|{day}00:45:00|{day}01:20:00|{day}01:30:00|1|c\n"
    );
    let (rows, summary) = read(&log, &in_chicago());
    let ends: Vec<_> = rows.iter().filter(|row| row.contains('+')).collect();
    // The event log shows all its times with the offset from UTC at its start.
    assert_eq!(ends[0], "2026-11-01 00:50:00 +b +c");
    assert_eq!(
        ends[1..],
        [
            "2026-11-01 01:30:00 +c",
            "2026-11-01 02:10:00 +b",
            "2026-11-01 03:40:00 +a"
        ]
    );
    let twice = &summary.log_counts.found[&Reason::OccursTwice];
    assert_eq!(
        (twice.count, &*twice.example),
        (1, "log, line 4: 2026-11-01 01:20:00")
    );
    assert!(
        !summary
            .log_counts
            .found
            .contains_key(&Reason::EndsBeforeStart)
    );
    // Without the zone, the second job ends before it starts, and a note says that the zone is unknown.
    let (_, summary) = read(&log, &Options::new(Format::Slurm));
    assert_eq!(summary.log_counts.found[&Reason::EndsBeforeStart].count, 1);
    assert!(
        notes(&summary).contains("does not state its time zone"),
        "{:?}",
        summary.notes
    );
}

#[test]
fn a_time_that_did_not_occur_is_counted_and_stops_a_strict_reader() {
    let day = "2026-03-08T";
    let log = format!("{HEADER}1|COMPLETED|{day}01:00:00|{day}01:50:00|{day}02:10:00|1|a\n");
    let (_, summary) = read(&log, &in_chicago());
    let never = &summary.log_counts.found[&Reason::NeverOccurs];
    assert_eq!(
        (never.count, &*never.example),
        (1, "log, line 2: 2026-03-08 02:10:00")
    );
    assert_eq!(summary.span.1, "2026-03-08 03:10:00-05:00");
    let strict = Options {
        strict: true,
        ..in_chicago()
    };
    let error = events(log.as_bytes(), &strict).unwrap_err();
    assert_eq!(error.exit_code(), 3);
}

// 10:40+02:00 is 40 minutes after 9:00+01:00.
#[test]
fn offsets_in_sacct_and_sacctmgr_are_honoured() {
    let day = "2026-10-25T";
    let log = format!(
        "{HEADER}1|COMPLETED|{day}08:00:00+0100|{day}09:00:00+0100|{day}10:40:00+02:00|1|a\n\
         2|COMPLETED|{day}09:00:00+01|{day}09:00:00+01:00|{day}10:00:00Z|1|b\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let outages = folder.path().join("events");
    let down = "NodeName|TimeStart|TimeEnd|State\na|2026-10-25T10:00:00+0100|2026-10-25T10:30:00+0100|DOWN\n";
    std::fs::write(&outages, down).unwrap();
    let options = Options {
        events: Some(outages),
        ..between(
            Format::Slurm,
            "2026-10-25T08:00:00Z",
            "2026-10-25T10:00:00Z",
        )
    };
    let (rows, summary) = read(&log, &options);
    assert_eq!(
        rows,
        [
            "2026-10-25 09:00:00",
            "2026-10-25 09:40:00 +a",
            "2026-10-25 10:00:00 -a",
            "2026-10-25 10:30:00 +a",
            "2026-10-25 11:00:00 +b",
        ]
    );
    assert_eq!(summary.span.0, "2026-10-25 09:00:00+01:00");
}

#[test]
fn the_header_of_a_workload_names_its_zone() {
    let log = text("workload.swf");
    let with = |header: &str| log.replace("; TimeZoneString: UTC\n", header);
    for (header, first) in [
        ("; TimeZoneString: Europe/Paris\n", "09:00:00+01:00"),
        ("; TimeZone: 3600\n", "09:00:00+01:00"),
        (
            "; TimeZone: -25200\n; TimeZoneString: US/Pacific\n",
            "00:00:00-08:00",
        ),
        (
            "; TimeZone: -25200\n; TimeZoneString: Mars/Base\n",
            "01:00:00-07:00",
        ),
        ("", "08:00:00+00:00"),
    ] {
        let (_, summary) = read(&with(header), &Options::new(Format::Swf));
        assert_eq!(summary.span.0, format!("2026-01-01 {first}"), "{header}");
    }
    let (_, summary) = read(&with(""), &Options::new(Format::Swf));
    assert!(
        notes(&summary).contains("times are given in UTC"),
        "{:?}",
        summary.notes
    );
    let options = Options {
        timezone: Some("Asia/Tokyo".to_owned()),
        ..Options::new(Format::Swf)
    };
    let (_, summary) = read(&with("; TimeZoneString: Europe/Paris\n"), &options);
    assert_eq!(summary.span.0, "2026-01-01 17:00:00+09:00");
    let (_, summary) = read(
        &with("; TimeZoneString: Europe/Paris\n"),
        &Options::new(Format::Swf),
    );
    assert!(notes(&summary).contains("local times of Europe/Paris, as stated in the log"));
    // If the header does not state the time from which its seconds are counted, the times have no zone.
    let nowhere = with("; TimeZoneString: Europe/Paris\n").replace("UnixStartTime", "Started");
    let (_, summary) = read(&nowhere, &Options::new(Format::Swf));
    assert_eq!(summary.span.0, "1970-01-01 00:00:00");
}

#[test]
fn offsets_in_job_records_are_honoured() {
    let log = text("djc.csv");
    let (expected, _) = read(&log, &Options::new(Format::Djc));
    let mut zoned = log.replace(".000000", "").replace(".500000", "");
    for time in times(&zoned) {
        zoned = zoned.replace(&time, &format!("{time}+02:00"));
    }
    let (rows, summary) = read(&zoned, &Options::new(Format::Djc));
    assert_eq!(rows, expected);
    assert!(summary.span.0.ends_with("+02:00"), "{}", summary.span.0);
}

/// The start of an event log can be written in four ways. In every format, all four give the same event log.
#[test]
fn the_window_may_have_an_offset_in_every_format() {
    for (format, name) in [
        (Format::Slurm, "sacct.txt"),
        (Format::Pbs, "pbs.txt"),
        (Format::Cobalt, "cobalt.log"),
        (Format::Djc, "djc.csv"),
        (Format::Swf, "workload.swf"),
        (Format::Philly, "philly-jobs.json"),
    ] {
        let in_chicago = Options {
            timezone: Some("America/Chicago".to_owned()),
            ..Options::new(format)
        };
        let (_, whole) = read(&text(name), &in_chicago);
        let Some(Stamp::Zoned { utc, offset }) = stamp(&whole.span.0) else {
            panic!("{}: {}", name, whole.span.0)
        };
        let second = utc.second() + 61;
        let shown = |offset: i64| Local::from_seconds(second + offset).to_string();
        let expected = shown(offset.into());
        let mut found = Vec::new();
        for from in [
            second.to_string(),
            expected.clone(),
            format!("{}Z", shown(0)),
            format!("{}+05:30", shown(19_800)),
        ] {
            let options = Options {
                from: Some(from),
                to: Some(whole.span.1.clone()),
                ..in_chicago.clone()
            };
            found.push(read(&text(name), &options).0);
        }
        assert!(
            found[0][0].starts_with(&expected),
            "{name}: {}",
            found[0][0]
        );
        assert!(
            found.iter().all(|rows| *rows == found[0]),
            "{name}: {found:?}"
        );
    }
}

/// The distinct times in a string, such as `2026-01-01 08:00:00`.
fn times(line: &str) -> Vec<String> {
    let mut times: Vec<String> = (0..line.len().saturating_sub(18))
        .filter_map(|at| line.get(at..at + 19))
        .filter(|text| text.len() == 19 && text.parse::<Local>().is_ok() && text.contains(':'))
        .map(str::to_owned)
        .collect();
    times.sort();
    times.dedup();
    times
}

#[test]
fn an_attempt_of_philly_may_have_offsets() {
    let log = text("philly-jobs.json");
    let mut zoned = log.clone();
    for time in times(&log) {
        zoned = zoned.replace(&time, &format!("{time}-07:00"));
    }
    let options = Options {
        nodes: Some(sample("philly-machines.csv")),
        ..Options::new(Format::Philly)
    };
    let (expected, _) = read(&log, &options);
    let (rows, summary) = read(&zoned, &options);
    assert_eq!(rows, expected);
    assert!(summary.span.0.ends_with("-07:00"), "{}", summary.span.0);
}
