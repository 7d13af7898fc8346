//! Reasons why a measurement fails. After a failure, the session continues with the next
//! measurement.

use gleaner_domain::words::duration;

/// A measurement that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// The cause of the failure.
    pub problem: Problem,
    /// Index of the failed workload among the workloads of the measurement; `None` if no workload
    /// failed.
    pub which: Option<usize>,
    /// The last lines of the output of this workload.
    pub output: String,
}

/// The cause of a failed measurement.
#[derive(Debug, Clone, PartialEq)]
pub enum Problem {
    /// The program could not be started.
    NotStarted(String),
    /// The workload did not report `gleaner warm` within this number of seconds.
    NeverWarm(f64),
    /// The workload ended before all workloads of the measurement were warm. The string describes how it ended.
    EndedCold(String),
    /// The workload ended with an error during the window. The string describes how it ended.
    Died(String),
    /// The workload wrote a line that begins with `gleaner` but does not follow the protocol.
    Nonsense(String),
    /// The speed cannot be computed from the workload's reports.
    NoSpeed(NoSpeed),
    /// The device could not be sampled.
    Sampler(String),
    /// A workload of the pair could not be measured alone, so its relative speed in the pair cannot be
    /// computed. Contains the workload's name.
    NoSingle(String),
    /// The speed in a pair, relative to the speed alone, is outside the range of the tables.
    Implausible(f64),
}

/// The reason why the speed cannot be computed from reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoSpeed {
    /// The window contains fewer reports than are needed to compute a speed.
    Reports(usize),
    /// No samples were completed between the first and the last report of the window.
    Nothing,
    /// The last report came too early. The number is the share of the window that had passed by
    /// then.
    Stalled(f64),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Problem::NotStarted(why) => write!(f, "it could not be started: {why}"),
            Problem::NeverWarm(seconds) => {
                write!(
                    f,
                    "it did not report `gleaner warm` within {}",
                    duration(*seconds)
                )
            }
            Problem::EndedCold(end) => write!(f, "it ended before the window began: {end}"),
            Problem::Died(end) => write!(f, "it died during the window: {end}"),
            Problem::Nonsense(line) => write!(f, "it wrote an invalid report: {line}"),
            Problem::NoSpeed(why) => why.fmt(f),
            Problem::Sampler(why) => write!(f, "the device could not be sampled: {why}"),
            Problem::NoSingle(name) => {
                write!(
                    f,
                    "{name} could not be measured alone, so relative speeds cannot be computed"
                )
            }
            Problem::Implausible(speed) => {
                write!(
                    f,
                    "its speed in the pair is {speed:.4} times its speed alone, expected 0.01 to 10"
                )
            }
        }
    }
}

impl std::fmt::Display for NoSpeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoSpeed::Reports(0) => write!(f, "no `gleaner samples` report in the window"),
            NoSpeed::Reports(_) => write!(f, "too few `gleaner samples` reports in the window"),
            NoSpeed::Nothing => write!(f, "no sample was completed in the window"),
            NoSpeed::Stalled(share) => write!(
                f,
                "its last `gleaner samples` report came after {:.0} % of the window; report more often",
                100.0 * share
            ),
        }
    }
}
