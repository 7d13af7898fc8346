//! Tests offsets from UTC, time zones, and changes to and from summer time, in event logs and
//! tasks.

use gleaner_domain::Slice;
use gleaner_domain::clock::Occurrence;
use gleaner_domain::{Change, Clock, EventLog, EventLogBuilder, Local, Utc};
use gleaner_inputs::write::events::{Layout, write};
use gleaner_inputs::{events, tasks};
use gleaner_logs::zone::Zone;
use proptest::prelude::*;

use super::support::{assert_has, fault_of, file, read_text};

/// Reads a log in a time zone, from a file with this name and text.
fn read_in(name: &str, text: &str, zone: &str) -> gleaner_domain::Result<(EventLog, Vec<String>)> {
    let zone: Zone = zone.parse().unwrap();
    let (_folder, path) = file(name, text);
    let loaded = events::read_in(&path, Some(&zone))?;
    Ok((loaded.value, loaded.notes))
}

/// Minutes between consecutive rows.
fn minutes(log: &EventLog) -> Vec<f64> {
    let pairs = log.times().windows(2);
    pairs
        .map(|pair| pair[1].seconds_since(pair[0]) / 60.0)
        .collect()
}

fn shown(log: &EventLog) -> Vec<String> {
    let times = log.times().iter();
    times.map(|time| log.clock().show(*time)).collect()
}

const LONG: &str = "time,node,state\n";

// 09:40+01:00 is 10:40+02:00, which is 40 minutes after 10:00+02:00.
#[test]
fn offsets_are_honoured() {
    let rows = "2026-10-25 10:00:00+02:00,a,1\n2026-10-25 09:40:00+01:00,a,0\n";
    for text in [
        format!("{LONG}{rows}"),
        format!("when,a\n{}", rows.replace(",a,", ",")),
    ] {
        let log = read_text("log.csv", text).unwrap();
        assert_eq!(minutes(&log), [40.0]);
        let expected = ["2026-10-25 10:00:00+02:00", "2026-10-25 09:40:00+01:00"];
        assert_eq!(shown(&log), expected);
    }
    let backwards = "10:00:00+01:00,1\n2026-10-25T10:40:00+02:00,0\n";
    let message = fault_of(read_text(
        "log.csv",
        format!("when,a\n2026-10-25 {backwards}"),
    ));
    assert_has(&message, &["line 3, time", "(the previous row) or later"]);
    let zulu = read_text("log.csv", "when,a\n2026-10-25T10:00:00Z,1\n1792923600,0\n").unwrap();
    assert_eq!(minutes(&zulu), [20.0]);
    assert_eq!(zulu.clock().to_string(), "+00:00");
}

// Berlin's clock shows the hour from 2:00 to 3:00 twice on 2026-10-25, and skips it on 2026-03-29.
#[test]
fn a_zone_resolves_local_times() {
    let autumn = "when,a\n2026-10-25 02:50:00,1\n2026-10-25 02:10:00,0\n2026-10-25 02:55:00,1\n\
                  2026-10-25 03:10:00,0\n";
    let message = fault_of(read_text("log.csv", autumn));
    assert_has(
        &message,
        &["line 3, time", "if the clock was put back, see --timezone"],
    );
    let (log, notes) = read_in("log.csv", autumn, "Europe/Berlin").unwrap();
    assert_eq!(minutes(&log), [20.0, 45.0, 15.0]);
    assert_eq!(
        log.clock().to_string(),
        "+02:00 2026-10-25T01:00:00Z +01:00"
    );
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("1 row at a local time that occurs twice"),
        "{notes:?}"
    );
    let spring = autumn.replace("10-25", "03-29");
    let message = fault_of(read_in("log.csv", &spring, "Europe/Berlin"));
    let expected = "a time that exists in Europe/Berlin, whose clock skipped this time when it was put forward";
    assert_has(&message, &["line 2, time", "line 3, time", expected]);
}

#[test]
fn the_users_zone_overrides_that_of_the_log() {
    let text = "when,a\n2026-07-01 10:00:00+02:00,1\n2026-07-01 11:00:00+02:00,0\n";
    let (log, _) = read_in("log.csv", text, "America/Chicago").unwrap();
    assert_eq!(shown(&log)[0], "2026-07-01 03:00:00-05:00");
    // Reads the same log from a `.gev` file with a known clock, and from a `.gev` file with an
    // unknown clock.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.gev");
    let zone: Zone = "America/Chicago".parse().unwrap();
    let civil = text.replace("+02:00", "");
    for (text, expected) in [(text, "03:00:00-05:00"), (civil.as_str(), "10:00:00-05:00")] {
        let log = read_text("log.csv", text).unwrap();
        write(&log, &path, Layout::Long, None).unwrap();
        let log = events::read_in(&path, Some(&zone)).unwrap().value;
        assert_eq!(shown(&log)[0], format!("2026-07-01 {expected}"));
        assert_eq!(minutes(&log), [60.0]);
    }
}

#[test]
fn a_slice_is_cut_at_local_times() {
    let autumn = "when,a\n2026-10-25 02:50:00,1\n2026-10-25 02:10:00,0\n2026-10-25 03:10:00,1\n";
    let (log, _) = read_in("log.csv", autumn, "Europe/Berlin").unwrap();
    let cut = |from: &str, to: &str| {
        let slice = Slice {
            from: Some(from.parse().unwrap()),
            to: Some(to.parse().unwrap()),
            ..Slice::default()
        };
        log.slice(slice).map(|log| shown(&log))
    };
    // The first row is in the first occurrence of the hour, and the second row is in the second
    // occurrence.
    let both = ["2026-10-25 02:50:00+02:00", "2026-10-25 02:10:00+01:00"];
    assert_eq!(
        cut("2026-10-25 02:10:00", "2026-10-25 02:50:00").unwrap(),
        both
    );
    let one = cut("2026-10-25 02:10:00", "2026-10-25 00:55:00Z").unwrap();
    assert_eq!(one, both[..1]);
    let civil = read_text("log.csv", "when,a\n2026-10-25 02:50:00,1\n").unwrap();
    let error = civil.slice(Slice {
        from: Some("2026-10-25 00:00:00Z".parse().unwrap()),
        ..Slice::default()
    });
    let message = error.unwrap_err().to_string();
    assert!(message.contains("has an offset from UTC"), "{message}");
}

/// Reads a task with the clock of a log, and returns the task's submission time.
fn submitted(submit: &str, clock: &Clock) -> gleaner_domain::Result<Utc> {
    let text = format!(
        "[[task]]\nname = 'a'\nsubmit = {submit}\nmin_nodes = 1\nmax_nodes = 2\nrescale_up = 1\n\
         rescale_down = 1\nwork = 1\ncurve = {{ nodes = [0, 2], progress = [0, 1] }}\n"
    );
    let (_folder, path) = file("tasks.toml", text);
    let loaded = tasks::read_on(&path, None, false, clock)?;
    Ok(loaded.value.tasks[0].submit)
}

// The offset of the clock is -6 hours until March 8, and -5 hours after that.
#[test]
fn submissions_are_placed_on_the_logs_clock() {
    let clock = Clock::new(-6 * 3600, [(1_772_956_800, -5 * 3600)]);
    let utc = |text: &str| text.parse::<Local>().unwrap().from_offset(0);
    let expected = utc("2026-07-01 17:00:00");
    for submit in [
        "2026-07-01 12:00:00",
        "'2026-07-01T12:00:00'",
        "2026-07-01T12:00:00-05:00",
        "'2026-07-01 19:00:00+02:00'",
        "2026-07-01T17:00:00Z",
        "1782925200",
    ] {
        assert_eq!(submitted(submit, &clock).unwrap(), expected, "{submit}");
    }
    let as_written = utc("2026-07-01 12:00:00");
    assert_eq!(
        submitted("2026-07-01 12:00:00", &Clock::UNKNOWN).unwrap(),
        as_written
    );
    let message = fault_of(submitted("2026-07-01T12:00:00-05:00", &Clock::UNKNOWN));
    assert_has(
        &message,
        &["submit", "expected a time without an offset from UTC"],
    );
}

prop_compose! {
    fn clock()(
        base in -50_000i32..50_000,
        steps in prop::collection::vec((1i64..900_000, -50_000i32..50_000), 0..4),
    ) -> Clock {
        let mut second = 0;
        Clock::new(base, steps.into_iter().map(|(step, offset)| {
            second += step;
            (second, offset)
        }))
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(32))]

    // `.gev` and Parquet files store the whole clock. CSV files store only the offset at each row.
    #[test]
    fn a_clock_survives_every_format(clock in clock(), steps in prop::collection::vec(0i64..400_000, 1..12)) {
        let mut log = EventLogBuilder::new(vec!["a".into()]);
        let mut time = Utc(-5);
        for (row, step) in steps.iter().enumerate() {
            time = time.plus_whole(*step);
            log.push_row(time, [Change::new(0, row % 2 == 0)]);
        }
        log.set_clock(clock);
        let log = log.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        for (name, layout) in [
            ("log.gev", Layout::Long),
            ("long.parquet", Layout::Long),
            ("wide.parquet", Layout::Wide),
            ("long.csv", Layout::Long),
            ("wide.csv", Layout::Wide),
        ] {
            let path = folder.path().join(name);
            write(&log, &path, layout, None).unwrap();
            let read = events::read(&path).unwrap().value;
            prop_assert_eq!(shown(&read), shown(&log), "{}", name);
            prop_assert_eq!(minutes(&read), minutes(&log));
            if !name.ends_with("csv") {
                prop_assert_eq!(&read, &log, "{}", name);
            }
        }
    }

    // Each local time in the zone is resolved to an instant at which the zone's clock showed this
    // time.
    #[test]
    fn a_zone_resolves_the_local_times_it_shows(second in 0i64..3_000_000_000) {
        let zone: Zone = "America/Chicago".parse().unwrap();
        let utc = Utc::from_seconds(second);
        let local = utc.at_offset(zone.offset(utc));
        let first = zone.utc(local, Occurrence::First);
        let second = zone.utc(local, Occurrence::Second);
        prop_assert!(first == utc || second == utc);
        prop_assert!(first <= second);
    }
}
