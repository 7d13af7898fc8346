//! What can go wrong with a measurement. The others go on.

use gleaner_domain::words::duration;

/// A measurement that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// What went wrong.
    pub problem: Problem,
    /// Which of the two workloads of a pair it was, from 0; `None` if it was neither.
    pub which: Option<usize>,
    /// The last lines that this workload wrote.
    pub output: String,
}

/// What went wrong with a measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// The program could not be started.
    NotStarted(String),
    /// It did not say `gleaner warm` in this many seconds.
    NeverWarm(f64),
    /// It ended before it was warm, in this way.
    EndedCold(String),
    /// It ended in the window with an error.
    Died(String),
    /// A line that begins with `gleaner` is not one of the protocol.
    Nonsense(String),
    /// It gave no speed.
    NoSpeed(NoSpeed),
    /// The device could not be sampled.
    Sampler(String),
    /// It has no speed alone, with which a pair could be compared.
    NoSingle(String),
    /// The speed beside another, as a share of the speed alone, is not one that tables hold.
    Implausible(f64),
}

/// Why reports give no speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoSpeed {
    /// Fewer reports in the window than it takes.
    Reports(usize),
    /// No sample was done between the first and the last report of the window.
    Nothing,
    /// The last report came after this share of the window, and none after it.
    Stalled(f64),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::NotStarted(why) => write!(f, "it could not be started: {why}"),
            Problem::NeverWarm(seconds) => {
                write!(f, "it did not say `gleaner warm` in {}", duration(*seconds))
            }
            Problem::EndedCold(end) => {
                write!(f, "it ended before it said `gleaner warm`: {end}")
            }
            Problem::Died(end) => write!(f, "it died in the window: {end}"),
            Problem::Nonsense(line) => write!(f, "it reported nonsense: {line}"),
            Problem::NoSpeed(why) => why.fmt(f),
            Problem::Sampler(why) => write!(f, "the device could not be sampled: {why}"),
            Problem::NoSingle(name) => write!(f, "{name} has no speed alone to compare with"),
            Problem::Implausible(speed) => {
                write!(
                    f,
                    "its speed is {speed:.4} of that alone, expected 0.01 to 10"
                )
            }
        }
    }
}

impl std::fmt::Display for NoSpeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoSpeed::Reports(0) => write!(f, "no `gleaner samples` in the window"),
            NoSpeed::Reports(_) => write!(f, "too few `gleaner samples` in the window"),
            NoSpeed::Nothing => write!(f, "no sample was done in the window"),
            NoSpeed::Stalled(share) => write!(
                f,
                "its last `gleaner samples` came after {:.0} % of the window; report more often",
                100.0 * share
            ),
        }
    }
}
