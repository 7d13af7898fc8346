//! Reads the output of a workload: its reports, and its last lines.

use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gleaner_domain::words::{last_lines, printable};
use gleaner_process::{Line, Tail, read_lines};
use serde::Deserialize;

use crate::reports::{Report, Reports};

/// Prefix of report lines.
const PREFIX: &str = "gleaner ";

/// Number of bytes that are kept from the end of the output.
const KEPT: usize = 4096;

/// Maximum number of last lines in a message.
const SHOWN_LINES: usize = 10;

/// Maximum number of characters of an invalid line in a message.
const SHOWN: usize = 80;

/// Maximum number of samples that a workload may report.
const MOST_SAMPLES: u64 = 1_000_000_000_000_000;

/// The error message for an invalid number of samples.
const WHOLE: &str = "expected a whole number of samples up to 1e15";

/// A report in JSON, as received through the socket. Other fields are ignored.
#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    warm: bool,
    samples: Option<u64>,
}

/// The reports that a workload has made so far, and the end of its output.
#[derive(Debug)]
pub(crate) struct Log {
    state: Mutex<State>,
    tail: Tail,
}

/// The state of a workload according to its reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// Time at which the workload reported that it was warm.
    pub warm: Option<Instant>,
    pub reports: Reports,
    /// The first invalid report, and what is wrong with it.
    pub nonsense: Option<String>,
}

impl Log {
    pub fn new() -> Self {
        Log {
            state: Mutex::default(),
            tail: Tail::new(KEPT),
        }
    }

    /// Reads the standard output until it is closed.
    pub fn read_output(&self, output: impl Read) {
        read_lines(output, |line| {
            let at = Instant::now();
            match line {
                Line::Text(text) => {
                    self.locked().line(&text, at);
                    self.tail.push(&text);
                }
                Line::Long => self.locked().too_long(),
                Line::Closed => {}
            }
            true
        });
    }

    /// Reads reports in JSON, one per line, until the connection is closed.
    pub fn read_socket(&self, connection: impl Read) {
        read_lines(connection, |line| {
            let at = Instant::now();
            match line {
                Line::Text(text) => self.locked().message(&text, at),
                Line::Long => self.locked().too_long(),
                Line::Closed => {}
            }
            true
        });
    }

    /// Reads the standard error until it is closed.
    pub fn read_errors(&self, errors: impl Read) {
        self.tail.read(errors);
    }

    /// The state according to the reports so far.
    pub fn state(&self) -> State {
        self.locked().clone()
    }

    /// Opens the window. Returns the time at which the window starts.
    pub fn open_window(&self) -> Instant {
        let mut state = self.locked();
        let now = Instant::now();
        state.reports.open(now);
        now
    }

    /// The last lines of the output, separated by ` | `.
    pub fn last_lines(&self) -> String {
        last_lines(&self.tail.text(), SHOWN_LINES)
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        // The state is valid even if a thread panicked while it held the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn line(&mut self, text: &[u8], at: Instant) {
        let text = String::from_utf8_lossy(text);
        let Some(words) = text.strip_prefix(PREFIX) else {
            return;
        };
        if let Err(what) = self.words(words.trim(), at) {
            self.wrong(&text, &what);
        }
    }

    /// Processes a report in JSON.
    fn message(&mut self, text: &[u8], at: Instant) {
        let told = match serde_json::from_slice::<Message>(text) {
            Ok(message) => {
                if message.warm {
                    self.warm.get_or_insert(at);
                }
                let samples = message
                    .samples
                    .map_or(Ok(()), |count| self.samples(count, at));
                samples.err()
            }
            Err(_) => Some(r#"expected {"warm": true} or {"samples": n}"#.to_owned()),
        };
        if let Some(what) = told {
            self.wrong(&String::from_utf8_lossy(text), &what);
        }
    }

    /// Records an invalid report, unless an earlier invalid report was recorded.
    fn wrong(&mut self, text: &str, what: &str) {
        let shown: String = text.trim().chars().take(SHOWN).collect();
        let told = format!("{:?}, {what}", printable(&shown));
        self.nonsense.get_or_insert(told);
    }

    fn too_long(&mut self) {
        let what = || "a line longer than 1 MiB".to_owned();
        self.nonsense.get_or_insert_with(what);
    }

    /// Processes the words after the prefix.
    fn words(&mut self, words: &str, at: Instant) -> Result<(), String> {
        if words == "warm" {
            self.warm.get_or_insert(at);
            return Ok(());
        }
        let count = words.strip_prefix("samples ").map(str::trim);
        let count = count.ok_or("expected `gleaner warm` or `gleaner samples <n>`")?;
        let count = count.parse().map_err(|_| WHOLE)?;
        self.samples(count, at)
    }

    /// Processes the number of samples completed since the start.
    fn samples(&mut self, samples: u64, at: Instant) -> Result<(), String> {
        if samples > MOST_SAMPLES {
            return Err(WHOLE.to_owned());
        }
        if let Some(latest) = self.reports.latest().filter(|&latest| latest > samples) {
            return Err(format!(
                "fewer than the {latest} reported before; expected the number of samples since the start"
            ));
        }
        self.reports.add(Report { at, samples });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        let log = Log::new();
        log.read_output(text.as_bytes());
        log
    }

    #[test]
    fn lines_of_the_protocol_are_found_among_others() {
        let log = log("epoch 1\ngleaner warm\n gleaner of ideas\ngleaner samples 3\r\nend");
        let state = log.state();
        assert!(state.warm.is_some() && state.nonsense.is_none());
        assert_eq!(state.reports.latest(), Some(3));
        assert!(log.last_lines().ends_with("gleaner samples 3 | end"));
    }

    #[test]
    fn other_lines_with_the_prefix_are_nonsense() {
        let cases = [
            ("gleaner samples\n", "expected `gleaner warm`"),
            ("gleaner hot\n", "expected `gleaner warm`"),
            ("gleaner samples -1\n", "whole number"),
            ("gleaner samples 1.5\n", "whole number"),
            ("gleaner samples 1000000000000001\n", "1e15"),
            ("gleaner samples 5\ngleaner samples 4\n", "fewer than the 5"),
            ("gleaner \u{1b}[31m\n", "\\\\u{1b}"),
        ];
        for (text, word) in cases {
            let told = log(text).state().nonsense.unwrap();
            assert!(told.contains(word), "{text:?}: {told}");
        }
        let long = format!("gleaner {}\n", "x".repeat(1 << 20));
        assert!(log(&long).state().nonsense.unwrap().contains("MiB"));
    }

    #[test]
    fn reports_may_be_in_json() {
        let log = |text: &str| {
            let log = Log::new();
            log.read_socket(text.as_bytes());
            log.state()
        };
        let state = log("{\"warm\": true, \"rank\": 0}\n{\"samples\": 7}\n{\"samples\": 9}");
        assert!(state.warm.is_some() && state.nonsense.is_none());
        assert_eq!(state.reports.latest(), Some(9));
        let cases = [
            ("warm\n", "expected {"),
            ("{\"samples\": -1}\n", "expected {"),
            ("{\"samples\": 1000000000000001}\n", "1e15"),
            ("{\"samples\": 5}\n{\"samples\": 4}\n", "fewer than the 5"),
        ];
        for (text, word) in cases {
            let told = log(text).nonsense.unwrap();
            assert!(told.contains(word), "{text:?}: {told}");
        }
    }

    #[test]
    fn a_few_last_lines_are_shown() {
        let many: String = (0..100).map(|line| format!("line {line}\n\n")).collect();
        let shown = log(&many).last_lines();
        assert!(shown.starts_with("line 90 | ") && shown.ends_with("line 99"));
    }
}
