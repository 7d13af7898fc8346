//! Tests that the dates of `gleaner simulate --idle-events` match the dates of the trace.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::gleaner;

/// Writes a trace of two jobs on one node, submitted at the given times, to the folder `trace`.
fn trace(at: &Path, submissions: [&str; 2]) {
    let rows = |submit: &str, id: u32| format!("{id},a,8,{submit},3600\n");
    let jobs = String::from("job_id,vc,gpu_num,submit_time,duration\n")
        + &rows(submissions[0], 1)
        + &rows(submissions[1], 2);
    fs::create_dir_all(at.join("trace")).unwrap();
    fs::write(at.join("trace/jobs.csv"), jobs).unwrap();
    fs::write(at.join("trace/vc_config.csv"), "vc,num\na,2\n").unwrap();
}

/// Writes a log of idle nodes. Returns its first time, its last time, and the text on stderr.
fn log(at: &Path, arguments: &str) -> (String, String, String) {
    let line = format!("simulate {arguments} --policy fifo --with-drain --idle-events idle.csv");
    let err = gleaner(at, &line).expect(0).err;
    let text = fs::read_to_string(at.join("idle.csv")).unwrap();
    let time = |line: &str| line.split(',').next().unwrap().to_owned();
    let mut lines = text.lines();
    let (first, last) = (lines.nth(1).unwrap(), lines.next_back().unwrap());
    (time(first), time(last), err)
}

/// The number of seconds in the log on each weekday, from Monday to Sunday.
fn weekdays(at: &Path) -> Vec<f64> {
    let out = gleaner(at, "inspect idle.csv --json").expect(0).out;
    let inspected: Value = serde_json::from_str(&out).unwrap();
    let days = inspected["calendar"]["weekdays"].as_array().unwrap();
    days.iter()
        .map(|day| day["seconds"].as_f64().unwrap())
        .collect()
}

const WEDNESDAY: [f64; 7] = [0.0, 0.0, 10_800.0, 0.0, 0.0, 0.0, 0.0];

#[test]
fn civil_times_stay_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    trace(at, ["2020-04-01 09:00:00", "2020-04-01 11:00:00"]);
    let (first, last, err) = log(at, "--data trace");
    assert_eq!(
        (first.as_str(), last.as_str()),
        ("2020-04-01 09:00:00", "2020-04-01 12:00:00")
    );
    assert!(!err.contains("no dates"), "{err}");
    // 1 April 2020 was a Wednesday.
    assert_eq!(weekdays(at), WEDNESDAY);
}

#[test]
fn seconds_since_1970_are_recognised() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    // 2020-04-01 09:00:00 and 11:00:00 UTC, computed with `date -u -d`.
    trace(at, ["1585731600", "1585738800"]);
    let (first, last, err) = log(at, "--data trace");
    assert_eq!(
        (first.as_str(), last.as_str()),
        ("2020-04-01 00:00:00", "2020-04-01 12:00:00")
    );
    assert!(!err.contains("no dates"), "{err}");
}

#[test]
fn a_trace_without_dates_gets_those_of_the_epoch() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    trace(at, ["0", "7200"]);
    let (first, _, err) = log(at, "--data trace");
    assert_eq!(first, "1970-01-01 00:00:00");
    assert!(
        err.contains("no dates") && err.contains("--epoch TIME"),
        "{err}"
    );
    let (first, last, err) = log(at, "--data trace --epoch 2020-04-01T09:00:00");
    assert_eq!(
        (first.as_str(), last.as_str()),
        ("2020-04-01 09:00:00", "2020-04-01 12:00:00")
    );
    assert!(
        !err.contains("no dates") && !err.contains("no effect"),
        "{err}"
    );
    assert_eq!(weekdays(at), WEDNESDAY);
}

/// The times in the trace of Venus are seconds since 1 April 2020. In this test, jobs are submitted on 1 September, a
/// Tuesday.
#[test]
fn published_traces_have_their_dates() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    trace(at, ["13219200", "13226400"]);
    for arguments in ["--preset venus-sept --data trace", "-e Venus_Sept -t trace"] {
        let (first, last, err) = log(at, arguments);
        assert_eq!(
            (first.as_str(), last.as_str()),
            ("2020-09-01 00:00:00", "2020-09-01 03:00:00")
        );
        assert!(!err.contains("no dates"), "{err}");
    }
    assert_eq!(weekdays(at), [0.0, 10_800.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // If a raw log has civil times, its dates are used instead of those of the named experiment.
    fs::rename(at.join("trace/jobs.csv"), at.join("trace/gone.csv")).unwrap();
    let log_text = "job_id,vc,gpu_num,submit_time,duration\n1,a,8,2020-04-01 00:00:30,5\n\
                    2,a,8,2020-09-01 10:00:30,3600\n";
    fs::write(at.join("trace/cluster_full_log.csv"), log_text).unwrap();
    let (_, last, _) = log(at, "-e Venus_Sept -t trace");
    assert_eq!(last, "2020-09-01 11:00:30");
}

#[test]
fn the_log_ends_at_the_last_submission_unless_the_drain_is_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    trace(at, ["0", "3000"]);
    let line = "simulate --data trace --policy fifo --epoch 2026-01-05 --idle-events idle.csv";
    for (more, end) in [("", "00:50:00"), (" --with-drain", "01:50:00")] {
        let told = format!("2026-01-05 00:00:00 to 2026-01-05 {end}");
        gleaner(at, &format!("{line}{more}"))
            .expect(0)
            .says(&[&told]);
    }
    // Both jobs are submitted in the same second, so the period during which jobs arrive is empty.
    trace(at, ["0", "0"]);
    gleaner(at, line)
        .expect(0)
        .says(&["the idle log spans no time", "--with-drain"]);
    gleaner(at, "simulate --data trace --policy fifo --with-drain")
        .expect(0)
        .says(&["--with-drain has no effect"]);
}

#[test]
fn logs_that_end_after_2262_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    trace(at, ["0", "12960000"]);
    let line = "simulate --data trace --policy fifo --with-drain --idle-events idle.csv --out run";
    gleaner(at, &format!("{line} --epoch 2261-12-31T00:00:00"))
        .expect(3)
        .says(&["jobs.csv", "2262", "--idle-events"]);
    assert!(!at.join("idle.csv").exists() && !at.join("run/run.json").exists());
}
