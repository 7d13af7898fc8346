//! Settings for nodes whose state a log leaves unknown.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::{Quality, UnknownNodes};
use gleaner_setup::settings::{Form, Spec, Value};
use gleaner_setup::{named_values, settings};
use serde::Serialize;

settings! {
    /// Settings for nodes that jobs used but the log does not name, for example because long lists are truncated.
    #[derive(Debug, Clone)]
    pub struct UnknownSettings {
        /// State that the event log shows for nodes whose state is unknown.
        pub unknown: Shown = Shown(UnknownNodes::Deal) => Spec::of("STATE");
        /// Also write the logs of the lower and the upper bound on the idleness: NAME.lower.gev and NAME.upper.gev
        /// for NAME.gev.
        pub bounds: bool = false => Spec::flag();
        /// Maximum share of the idle time that falls on nodes in an unknown state; `any` accepts every log.
        pub max_unknown: MaxUnknown = MaxUnknown::DEFAULT => Spec::of("SHARE");
    }
}

/// The state that an event log shows for nodes whose state is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shown(pub UnknownNodes);

named_values!(Shown:
    Shown(UnknownNodes::Busy) => "As busy: a lower bound on the idleness",
    Shown(UnknownNodes::Idle) => "As idle: an upper bound on the idleness",
    Shown(UnknownNodes::Deal) => "Assigned to the jobs that lack them, so that the number of idle nodes agrees with the stated counts, except in \
         rare cases",
);

/// Maximum share of the idle time that falls on nodes in an unknown state; `None` for any share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxUnknown(pub Option<f64>);

impl Value for MaxUnknown {
    const FORM: Form = Form::Any;

    fn read(text: &OsStr) -> Result<Self, String> {
        if text == "any" {
            return Ok(MaxUnknown(None));
        }
        let share = text.to_str().and_then(|text| text.parse().ok());
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        share
            .map(|share| MaxUnknown(Some(share)))
            .ok_or_else(|| "expected a share from 0 to 1, or any".to_owned())
    }

    fn show(&self) -> String {
        self.0.map_or("any".to_owned(), |share| share.to_string())
    }
}

impl UnknownSettings {
    /// The event logs to write: the state that each log shows for unknown nodes, and its path.
    pub(super) fn outputs(&self, output: &Path) -> Vec<(UnknownNodes, PathBuf)> {
        let mut outputs = vec![(self.unknown.0, output.to_owned())];
        if self.bounds {
            outputs.push((UnknownNodes::Busy, beside(output, "lower")));
            outputs.push((UnknownNodes::Idle, beside(output, "upper")));
        }
        outputs
    }

    /// Checks that the share of the log's idle time on nodes in an unknown state is at most the maximum, and that
    /// requested bounds can be written.
    ///
    /// # Errors
    /// The share exceeds the maximum, or bounds are requested for a log that does not name nodes.
    pub(super) fn check(&self, quality: &Quality, file: &Path) -> Result<()> {
        if quality.are_nodes_generated && self.bounds {
            return Err(Error::Usage(without_bounds(quality)));
        }
        let remedy = "export the full lists of nodes (sacct -P does not truncate them), list the machine's nodes with \
                      --nodes, state its outages with --events or --outages, or accept any share with \
                      --max-unknown any, together with --bounds to also write the bounds as separate logs";
        self.max_unknown.check(quality, file, remedy)
    }
}

impl MaxUnknown {
    /// The default: a tenth of the idle time.
    pub const DEFAULT: MaxUnknown = MaxUnknown(Some(0.1));

    /// Checks that the share of a log's idle time on nodes in an unknown state is at most this maximum.
    ///
    /// # Errors
    /// The share exceeds the maximum. The fault contains `remedy`.
    pub(super) fn check(self, quality: &Quality, file: &Path, remedy: &str) -> Result<()> {
        let share = quality.unknown_share();
        let Some(most) = self.0.filter(|most| share > *most) else {
            return Ok(());
        };
        let found = format!(
            "{:.1} % of the idle time on nodes in an unknown state: {}",
            100.0 * share,
            quality.sentences().join("; ")
        );
        let fault = Fault::of(file, found, format!("at most {:.1} %", 100.0 * most));
        Err(fault.remedy(remedy).into())
    }
}

/// Explains why `--bounds` cannot write its two logs if the source states only the number of nodes of each job. If the
/// bounds on the idleness differ, jobs share nodes, as their numbers of cores show.
fn without_bounds(quality: &Quality) -> String {
    let reason = if quality.idle_lower < quality.idle_upper {
        "Jobs share nodes, so the number of idle nodes is known only within bounds. Which nodes were idle is unknown"
    } else {
        "If jobs do not share nodes, the number of idle nodes is exact, so there are no bounds"
    };
    format!(
        "--bounds: the log states only how many nodes each job used. {reason}. Leave out --bounds"
    )
}

/// Derives the path `NAME.bound.EXTENSION` from `NAME.EXTENSION`.
fn beside(output: &Path, bound: &str) -> PathBuf {
    let extension = output.extension().unwrap_or_default().to_string_lossy();
    output.with_extension(format!("{bound}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_written_beside_the_log() {
        let settings = UnknownSettings {
            bounds: true,
            ..UnknownSettings::default()
        };
        let paths = settings.outputs(Path::new("a/log.gev"));
        let paths: Vec<_> = paths
            .iter()
            .map(|(_, path)| path.to_str().unwrap())
            .collect();
        assert_eq!(paths, ["a/log.gev", "a/log.lower.gev", "a/log.upper.gev"]);
    }

    #[test]
    fn too_much_that_is_unknown_is_refused() {
        let settings = UnknownSettings::default();
        let quality = Quality {
            idle_upper: 1000,
            unknown: 101,
            ..Quality::certain(899)
        };
        let message = settings.check(&quality, Path::new("log")).unwrap_err();
        assert_eq!(message.exit_code(), 3);
        for help in ["--max-unknown any, together with --bounds", "--outages"] {
            assert!(message.to_string().contains(help), "{message}");
        }
        let any = UnknownSettings {
            max_unknown: MaxUnknown(None),
            ..settings.clone()
        };
        any.check(&quality, Path::new("log")).unwrap();
        let less = Quality {
            unknown: 100,
            ..quality
        };
        settings.check(&less, Path::new("log")).unwrap();
    }

    #[test]
    fn logs_of_bounds_need_named_nodes() {
        let settings = UnknownSettings {
            bounds: true,
            ..UnknownSettings::default()
        };
        let exact = Quality {
            are_nodes_generated: true,
            ..Quality::certain(3600)
        };
        let shared = Quality {
            idle_upper: 7200,
            ..exact.clone()
        };
        for (quality, reason) in [(exact, "there are no bounds"), (shared, "within bounds")] {
            let message = settings.check(&quality, Path::new("log")).unwrap_err();
            assert_eq!(message.exit_code(), 2);
            assert!(message.to_string().contains(reason), "{message}");
        }
    }

    #[test]
    fn shares_are_read() {
        for (text, share) in [
            ("any", Some(None)),
            ("0.25", Some(Some(0.25))),
            ("2", None),
            ("x", None),
        ] {
            let read = MaxUnknown::read(OsStr::new(text)).ok();
            assert_eq!(read.map(|read| read.0), share, "{text}");
        }
    }
}
