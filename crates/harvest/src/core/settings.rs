//! The settings of the core.

use std::sync::Arc;

use gleaner_domain::Objective;
use gleaner_domain::error::{Error, Result};
use gleaner_replay::allocator;
use serde::{Deserialize, Serialize};

/// Settings of the core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Forward window of every decision, in seconds.
    pub t_fwd_s: f64,
    /// Maximum number of active tasks.
    pub max_tasks: usize,
    /// Maximum number of different nodes, over the life of the journal.
    pub max_nodes: usize,
    /// Maximum number of pilots that have not ended.
    pub max_pilots: usize,
    /// For each wall time in seconds: the number of pilots that wait at once.
    pub ladder: Vec<(u64, usize)>,
    /// Maximum node-hours that tasks may use in a day (UTC); `None` if unlimited.
    pub node_hours_per_day: Option<f64>,
    /// Seconds between SIGTERM and SIGKILL when a run is stopped.
    pub grace_s: f64,
    /// Seconds without a message after which a pilot's node no longer counts as idle.
    pub silence_s: f64,
    /// Seconds without an answered beat after which a pilot ends its ranks and itself.
    pub lease_s: f64,
    /// Seconds between a rejected pilot and the next request, and between a failed run and the next.
    pub retry_s: f64,
    /// Number of failed runs in a row, without progress, after which a task fails.
    pub max_failures: u32,
    /// Seconds before a pilot's wall time ends at which it gives up its node.
    pub lead_s: f64,
}

impl Settings {
    /// Checks the ranges of the settings.
    ///
    /// # Errors
    /// A setting is out of range. The message names it.
    pub fn check(&self) -> Result<()> {
        let seconds = [
            ("grace", self.grace_s),
            ("silence", self.silence_s),
            ("lease", self.lease_s),
            ("retry", self.retry_s),
            ("lead", self.lead_s),
        ];
        for (name, value) in seconds {
            if !(0.0..=86_400.0).contains(&value) {
                let message = format!("{name}: found {value} s, expected 0 to 86,400 s");
                return Err(Error::Usage(message));
            }
        }
        if self.silence_s > self.lease_s {
            let (silence, lease) = (self.silence_s, self.lease_s);
            let message =
                format!("silence: found {silence} s, expected at most the lease of {lease} s");
            return Err(Error::Usage(message));
        }
        Ok(())
    }

    /// The settings of the allocator.
    pub(crate) fn allocator(&self, objective: Objective) -> allocator::Settings {
        allocator::Settings {
            t_fwd: self.t_fwd_s,
            max_tasks: self.max_tasks,
            objective,
            groups: Arc::default(),
            shown_offset: 0,
            classes: None,
        }
    }
}
