//! The log of idle nodes that a simulation writes.

use std::path::{Path, PathBuf};
use std::time::Instant;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::counted;
use gleaner_domain::{EventLog, Utc};
use gleaner_inputs::write::events;
use gleaner_inputs::write::events::Layout;
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;
use gleaner_simulate::Request;
use serde::Serialize;

use super::Simulated;

settings! {
    /// The log of idle nodes to write.
    #[derive(Debug, Clone, Serialize)]
    pub struct IdleLog under "Output" {
        /// Write the times at which each node is fully idle, as an event log for `gleaner replay`: .csv, .parquet or
        /// .gev. This requires a single policy. If the trace has no dates, --epoch sets them.
        pub idle_events: Option<PathBuf> = None => Spec::of("FILE");
        /// Extend the --idle-events log to the end of the last job. By default, the log ends at the last submission.
        /// After the last submission, the simulated cluster gradually empties, unlike a real cluster.
        pub with_drain: bool = false => Spec::flag();
    }
}

impl IdleLog {
    /// Whether the results must show dates.
    pub fn is_dated(&self) -> bool {
        self.idle_events.is_some()
    }

    /// Writes the log of idle nodes if it was requested and the policy was not interrupted. Returns a line
    /// that describes the log.
    ///
    /// # Errors
    /// The schedule is too long for a log, or the file cannot be written.
    pub fn write(
        &self,
        simulated: &mut Simulated,
        observer: &dyn Observer,
    ) -> Result<Option<String>> {
        let (Some(path), [_]) = (&self.idle_events, &simulated.runs[..]) else {
            return Ok(None);
        };
        let clock = Instant::now();
        let log = simulated.idle_log(self.with_drain, observer)?;
        events::write(&log, path, Layout::Long, None)?;
        simulated.seconds.write += clock.elapsed().as_secs_f64();
        Ok(Some(told(path, &log)))
    }

    /// Checks, before the simulation, that a requested log of idle nodes can be written.
    ///
    /// # Errors
    /// There is more than one policy, or the extension of the file is unknown.
    pub fn check(&self, requests: &[Request]) -> Result<()> {
        let Some(path) = &self.idle_events else {
            return Ok(());
        };
        if requests.len() != 1 {
            return Err(Error::Usage(
                "--idle-events writes one log: choose a single policy, such as --policy \
                 srtf"
                    .into(),
            ));
        }
        events::Format::of(path).map(drop)
    }

    /// A remark if an option has no effect because another option is missing.
    pub fn without_effect(&self) -> Option<String> {
        let is_alone = self.with_drain && self.idle_events.is_none();
        is_alone.then(|| "--with-drain has no effect without --idle-events".to_owned())
    }
}

/// Describes a log of idle nodes in one line.
fn told(path: &Path, log: &EventLog) -> String {
    let span = log.times().first().zip(log.times().last());
    let shown = |time: &Utc| log.clock().steady(*time);
    let span = span.map_or(String::new(), |(from, to)| {
        format!(", {} to {}", shown(from), shown(to))
    });
    let events = counted(log.len(), "event");
    let nodes = counted(log.nodes().len(), "node");
    format!("{}: {events} of {nodes}{span}", path.display())
}
