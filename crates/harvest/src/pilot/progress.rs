//! The messages from programs to their pilot: reports of progress, and questions about the trial to train.
//!
//! A report is a line of JSON such as `{"done": 1200, "loss": 0.4}`, or a datagram from BFTrainer. A question is the
//! line `{"ask": true}`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::core::{Loss, Report, Trial};

/// Maximum length of a line or datagram, in bytes.
pub(super) const LONGEST_REPORT: usize = 4096;

/// Minimum time between two reports to the daemon about the same run.
const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of senders whose last datagram numbers are remembered.
const MOST_SENDERS: usize = 1024;

/// A valid line from a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Written {
    Report(Report),
    /// A question about the trial to train.
    Ask,
}

/// Reads a line from a program. Unknown fields are ignored, and so is a loss that is neither a number nor null.
///
/// # Errors
/// The line is too long or invalid. The error text describes the fault.
pub(super) fn parse_line(line: &[u8]) -> Result<Written, String> {
    #[derive(Deserialize)]
    struct Fields {
        done: Option<f64>,
        #[serde(default, deserialize_with = "given")]
        loss: Option<Value>,
        #[serde(default)]
        ask: bool,
    }
    /// Distinguishes null from a missing field.
    fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(from).map(Some)
    }
    if line.len() > LONGEST_REPORT {
        return Err(format!("it is longer than {LONGEST_REPORT} bytes"));
    }
    let read: Result<Fields, _> = serde_json::from_slice(line);
    let read = read.or_else(|error| serde_json::from_str(&with_null(line)).map_err(|_| error));
    let fields = read.map_err(|error| error.to_string())?;
    if fields.ask {
        return Ok(Written::Ask);
    }
    let done = fields.done.ok_or("the field done is missing or null")?;
    if !(done.is_finite() && done >= 0.0) {
        return Err(format!(
            "done: found {done}, expected a finite number of at least 0"
        ));
    }
    let loss = match fields.loss {
        Some(Value::Null) => Some(Loss::Diverged),
        Some(value) => value.as_f64().map(Loss::from),
        None => None,
    };
    Ok(Written::Report(Report { done, loss }))
}

/// Replaces `NaN` and the infinities with null: Python's `json` writes them, although JSON lacks them.
fn with_null(line: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(line).into_owned();
    for number in ["-Infinity", "Infinity", "NaN"] {
        text = text.replace(number, "null");
    }
    text
}

/// The answer to a program's question about its trial, as a line of JSON.
pub(super) fn answer(trial: Option<&Trial>) -> String {
    #[derive(Serialize)]
    struct Answer {
        trial: Option<u32>,
        rung: Option<u32>,
        resource: Option<f64>,
        parameters: gleaner_search::Parameters,
    }
    let answer = Answer {
        trial: trial.map(|trial| trial.number),
        rung: trial.map(|trial| trial.rung),
        resource: trial.map(|trial| trial.resource),
        parameters: trial.map_or_else(Default::default, |trial| trial.parameters.clone()),
    };
    // Serialisation always succeeds, because all keys are strings.
    let line = serde_json::to_string(&answer).unwrap_or_default();
    format!("{line}\n")
}

/// A datagram from BFTrainer: `id:<n> time:<s> rank_size:<n> credit:<samples> jobname:<name>`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Datagram<'d> {
    /// Number of the datagram among those of its sender, starting at 0.
    pub id: u64,
    /// Number of samples processed since the sender's previous datagram.
    pub credit: f64,
    /// Name of the task.
    pub job: &'d str,
}

impl<'d> Datagram<'d> {
    /// Reads a datagram. Fields that are not needed, such as `time`, are ignored.
    ///
    /// # Errors
    /// A field is missing, repeated or invalid. The error text describes the fault.
    pub fn parse(bytes: &'d [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let mut fields = BTreeMap::new();
        for field in text.split_ascii_whitespace() {
            let (name, value) = field
                .split_once(':')
                .ok_or_else(|| format!("found {field:?}, expected name:value"))?;
            if fields.insert(name, value).is_some() {
                return Err(format!("the field {name} is repeated"));
            }
        }
        let credit: f64 = field(&fields, "credit")?;
        if !(credit.is_finite() && credit >= 0.0) {
            return Err(format!(
                "credit: found {credit}, expected a finite number of at least 0"
            ));
        }
        Ok(Datagram {
            id: field(&fields, "id")?,
            credit,
            job: fields
                .get("jobname")
                .ok_or("the field jobname is missing")?,
        })
    }
}

fn field<T: FromStr>(fields: &BTreeMap<&str, &str>, name: &str) -> Result<T, String> {
    let value = fields
        .get(name)
        .ok_or_else(|| format!("the field {name} is missing"))?;
    value
        .parse()
        .map_err(|_| format!("{name}: found {value:?}, expected a number"))
}

/// Adds up the credits in the datagrams of a run.
#[derive(Debug)]
pub(super) struct Credit {
    done: f64,
    /// Number of the last datagram of each sender.
    last: BTreeMap<SocketAddr, u64>,
}

impl Credit {
    /// Starts with `done`, the work that the task had done when the run began.
    pub fn new(done: f64) -> Self {
        Credit {
            done,
            last: BTreeMap::new(),
        }
    }

    /// Adds the credit of a datagram, and returns the work that the task has done. Returns `None` for a datagram that
    /// is not newer than the sender's last counted datagram.
    pub fn add(&mut self, sender: SocketAddr, datagram: &Datagram<'_>) -> Option<f64> {
        let last = self.last.get(&sender);
        if last.is_some_and(|&last| datagram.id <= last) {
            return None;
        }
        if last.is_none() && self.last.len() >= MOST_SENDERS {
            self.last.pop_first();
        }
        self.last.insert(sender, datagram.id);
        self.done += datagram.credit;
        Some(self.done)
    }
}

/// The last report of a run, shared by the pilot and the threads that receive reports. The pilot passes on at most one
/// report a second, so a task that reports continuously fills neither the memory nor the connection.
#[derive(Debug, Default)]
pub(super) struct Progress(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    report: Option<Report>,
    is_new: bool,
    passed_on: Option<Instant>,
}

impl Progress {
    /// Records a report of progress.
    pub fn report(&self, report: Report) {
        let mut last = self.locked();
        (last.report, last.is_new) = (Some(report.after(last.report)), true);
    }

    /// The report to pass on at `now`; `None` if none is due. If `is_last` is set, the minimum time between reports
    /// does not apply.
    pub fn take(&self, now: Instant, is_last: bool) -> Option<Report> {
        let mut last = self.locked();
        let is_early = last
            .passed_on
            .is_some_and(|at| now.saturating_duration_since(at) < INTERVAL);
        if !last.is_new || (is_early && !is_last) {
            return None;
        }
        (last.is_new, last.passed_on) = (false, Some(now));
        last.report
    }

    /// Causes the last report to be passed on again, because it may have been lost with the connection.
    pub fn repeat(&self) {
        let mut last = self.locked();
        last.is_new = last.report.is_some();
    }

    fn locked(&self) -> MutexGuard<'_, Last> {
        // The value stays valid even if a thread panicked while it held the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(done: f64) -> Report {
        Report { done, loss: None }
    }

    #[test]
    fn reports_may_have_other_fields() {
        let written = |line: &str| parse_line(line.as_bytes()).unwrap();
        assert_eq!(written(r#"{"done": 12.5}"#), Written::Report(plain(12.5)));
        let other = "{\"loss\": [1], \"done\": 3}\r\n";
        assert_eq!(written(other), Written::Report(plain(3.0)));
        for (loss, expected) in [
            ("0.5", Loss::Finite(0.5)),
            ("-2", Loss::Finite(-2.0)),
            ("null", Loss::Diverged),
            ("NaN", Loss::Diverged),
            ("-Infinity", Loss::Diverged),
        ] {
            let line = format!("{{\"done\": 3, \"loss\": {loss}}}");
            let loss = Some(expected);
            assert_eq!(written(&line), Written::Report(Report { done: 3.0, loss }));
        }
        assert_eq!(written(r#"{"ask": true}"#), Written::Ask);
        let long = format!(
            "{{\"done\": 1, \"note\": \"{}\"}}",
            "x".repeat(LONGEST_REPORT)
        );
        for wrong in [
            "",
            "12",
            "{}",
            "{\"done\": -1}",
            "{\"done\": 1e999}",
            "{\"done\": NaN}",
            "{\"done\": null}",
            "{\"done\": \"1\"}",
            "{\"done\": 1} 2",
            "{\"ask\": false}",
            "{\"loss\": 1}",
            &long,
        ] {
            assert!(parse_line(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    // The text has the format that BFTrainer's client sends.
    #[test]
    fn datagrams_are_read() {
        let text = b"id:7 time:1637000000.123456 rank_size:4 credit:128 jobname:resnet";
        let expected = Datagram {
            id: 7,
            credit: 128.0,
            job: "resnet",
        };
        assert_eq!(Datagram::parse(text), Ok(expected));
        for wrong in [
            "",
            "id:7 credit:128",
            "id:7 jobname:a",
            "credit:1 jobname:a",
            "id:-1 credit:1 jobname:a",
            "id:1 credit:-1 jobname:a",
            "id:1 credit:inf jobname:a",
            "id:1 credit:nan jobname:a",
            "id:1 credit:1 credit:1 jobname:a",
            "id:1 credit:1 jobname:a nonsense",
            "{\"done\": 1}",
        ] {
            assert!(Datagram::parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Datagram::parse(b"id:1 credit:1 jobname:\xff").is_err());
    }

    #[test]
    fn credits_are_added_up_and_counted_once() {
        let mut credit = Credit::new(1000.0);
        let datagram = |id, credit| Datagram {
            id,
            credit,
            job: "a",
        };
        let one: SocketAddr = "127.0.0.1:1001".parse().unwrap();
        let other: SocketAddr = "127.0.0.1:1002".parse().unwrap();
        assert_eq!(credit.add(one, &datagram(0, 64.0)), Some(1064.0));
        assert_eq!(credit.add(other, &datagram(0, 32.0)), Some(1096.0));
        assert_eq!(credit.add(one, &datagram(0, 64.0)), None);
        // A lost datagram leaves a gap.
        assert_eq!(credit.add(one, &datagram(2, 4.0)), Some(1100.0));
        assert_eq!(credit.add(one, &datagram(1, 64.0)), None);
    }

    #[test]
    fn reports_are_passed_on_once_a_second() {
        let progress = Progress::default();
        let start = Instant::now();
        assert_eq!(progress.take(start, true), None);
        progress.report(plain(1.0));
        progress.report(plain(2.0));
        assert_eq!(progress.take(start, false), Some(plain(2.0)));
        progress.report(plain(3.0));
        let soon = start + INTERVAL / 2;
        assert_eq!(progress.take(soon, false), None);
        assert_eq!(progress.take(start + INTERVAL, false), Some(plain(3.0)));
        progress.report(plain(4.0));
        assert_eq!(progress.take(start + INTERVAL, true), Some(plain(4.0)));
        progress.repeat();
        assert_eq!(progress.take(start + INTERVAL, false), None);
        assert_eq!(progress.take(start + 2 * INTERVAL, false), Some(plain(4.0)));
    }

    #[test]
    fn a_loss_is_kept_until_the_next_one() {
        let progress = Progress::default();
        let loss = Some(Loss::Finite(0.5));
        progress.report(Report { done: 1.0, loss });
        progress.report(plain(2.0));
        let expected = Report { done: 2.0, loss };
        assert_eq!(progress.take(Instant::now(), true), Some(expected));
        let loss = Some(Loss::Diverged);
        progress.report(Report { done: 3.0, loss });
        let expected = Report { done: 3.0, loss };
        assert_eq!(progress.take(Instant::now(), true), Some(expected));
    }

    #[test]
    fn a_program_that_is_no_trial_has_an_answer_too() {
        let nothing = "{\"trial\":null,\"rung\":null,\"resource\":null,\"parameters\":{}}\n";
        assert_eq!(answer(None), nothing);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            text in "[a-z:0-9 .e-]{0,60}",
        ) {
            let _ = parse_line(&bytes);
            let _ = Datagram::parse(&bytes);
            if let Ok(datagram) = Datagram::parse(text.as_bytes()) {
                prop_assert!(datagram.credit >= 0.0);
            }
        }
    }
}
