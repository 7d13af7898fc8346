//! The forward window: a given number of seconds, or a window that is suggested for the log and the
//! tasks.

use std::fmt;
use std::str::FromStr;

use gleaner_solvers::range;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use gleaner_domain::error::Result;
use gleaner_domain::{EventLog, Observer, TrainingTask};
use gleaner_inspect::{RescaleCosts, Suggestion};

/// The window of the original replayer, in seconds. It is also used if no window can be suggested.
pub const ORIGINAL: f64 = 10.0;

const AUTO: &str = "auto";

/// A requested forward window.
#[derive(Clone, Copy, PartialEq, Default)]
pub enum TFwd {
    /// The window that [`gleaner_inspect`] suggests for the log and the tasks.
    #[default]
    Auto,
    /// The given number of seconds, within [`range::WINDOW`].
    Seconds(f64),
}

/// A window in seconds, and the source of its value.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenWindow {
    /// Length in seconds.
    pub seconds: f64,
    /// The suggestion on which the window is based; `None` if the window was given in seconds.
    pub suggestion: Option<Suggestion>,
}

impl TFwd {
    /// Chooses the window for `tasks` on `log`, with at most `at_once` tasks active at the same
    /// time.
    ///
    /// # Errors
    /// Returns [`gleaner_domain::Error::Stopped`] if the observer stops the choice.
    pub fn choose(
        self,
        log: &EventLog,
        tasks: &[TrainingTask],
        at_once: usize,
        observer: &dyn Observer,
    ) -> Result<ChosenWindow> {
        Ok(match self {
            TFwd::Seconds(seconds) => ChosenWindow {
                seconds,
                suggestion: None,
            },
            TFwd::Auto => {
                let costs = RescaleCosts::of(tasks, at_once);
                let suggestion = gleaner_inspect::suggest(log, costs, observer)?;
                let seconds = suggestion.window.map_or(ORIGINAL, |window| window.t_fwd_s);
                ChosenWindow {
                    seconds: seconds.clamp(*range::WINDOW.start(), *range::WINDOW.end()),
                    suggestion: Some(suggestion),
                }
            }
        })
    }

    /// Whether the window is valid: a window in seconds must be in range.
    pub fn is_sound(self) -> bool {
        self.seconds()
            .is_none_or(|seconds| range::WINDOW.contains(&seconds))
    }

    /// The seconds; `None` for [`TFwd::Auto`].
    pub fn seconds(self) -> Option<f64> {
        match self {
            TFwd::Auto => None,
            TFwd::Seconds(seconds) => Some(seconds),
        }
    }
}

impl fmt::Display for ChosenWindow {
    /// The window and, if it was suggested, the reason for its value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = range::short(self.seconds);
        let Some(suggestion) = &self.suggestion else {
            return write!(f, "--t-fwd is {seconds} s");
        };
        write!(f, "--t-fwd auto is {seconds} s: ")?;
        match suggestion.reason {
            Some(reason) => f.write_str(reason),
            None => write!(
                f,
                "it suits the lengths of the log's idle fragments and the tasks' rescale costs \
                 ({:.1} s to grow, {:.1} s to lose nodes; active tasks: {})",
                suggestion.costs.up_s, suggestion.costs.down_s, suggestion.costs.tasks
            ),
        }
    }
}

impl FromStr for TFwd {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Ok(TFwd::Auto);
        }
        let seconds = text.parse().ok().map(TFwd::Seconds);
        seconds
            .filter(|t_fwd| t_fwd.is_sound())
            .ok_or_else(expected)
    }
}

/// Describes a valid window, for messages.
pub fn in_words() -> String {
    format!("{}, or {AUTO}", range::seconds(&range::WINDOW))
}

fn expected() -> String {
    format!("expected {}", in_words())
}

impl fmt::Display for TFwd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TFwd::Auto => f.write_str(AUTO),
            TFwd::Seconds(seconds) => write!(f, "{seconds}"),
        }
    }
}

impl fmt::Debug for TFwd {
    /// The value as it is written in a plan.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for TFwd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            TFwd::Auto => serializer.serialize_str(AUTO),
            TFwd::Seconds(seconds) => serializer.serialize_f64(*seconds),
        }
    }
}

impl<'de> Deserialize<'de> for TFwd {
    /// Reads a number or `"auto"`. The range of the number is not checked.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(f64),
            Text(String),
        }
        match Either::deserialize(deserializer) {
            Ok(Either::Number(seconds)) => Ok(TFwd::Seconds(seconds)),
            Ok(Either::Text(text)) if text == AUTO => Ok(TFwd::Auto),
            _ => Err(D::Error::custom(expected())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_seconds_in_range_or_auto() {
        assert_eq!("auto".parse(), Ok(TFwd::Auto));
        assert_eq!("60.5".parse(), Ok(TFwd::Seconds(60.5)));
        for wrong in ["-5", "0", "nan", "inf", "1e13", "Auto", ""] {
            let error = wrong.parse::<TFwd>().unwrap_err();
            assert!(error.ends_with("or auto"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_window_survives_json() {
        for window in [TFwd::Auto, TFwd::Seconds(92.0)] {
            let text = serde_json::to_string(&window).unwrap();
            assert_eq!(serde_json::from_str::<TFwd>(&text).unwrap(), window);
        }
        assert_eq!(serde_json::to_string(&TFwd::Seconds(92.0)).unwrap(), "92.0");
    }
}
