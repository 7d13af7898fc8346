//! Defines and checks the settings of the core.

use std::sync::Arc;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Objective, Utc};
use gleaner_replay::allocator::node_choice::Arrival;
use gleaner_replay::allocator::{self, Allocator, Source};
use serde::{Deserialize, Serialize};

use super::Millis;

/// Settings of the core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Forward window of every decision, in seconds.
    pub t_fwd_s: f64,
    /// Maximum number of active tasks.
    pub max_tasks: usize,
    /// Maximum number of different nodes in each class, over the life of the journal.
    pub max_nodes: usize,
    /// Maximum number of pilots that have not ended.
    pub max_pilots: usize,
    /// Pairs of a wall time in seconds and the number of pilots with this wall time to keep in the batch scheduler's
    /// queue.
    pub ladder: Vec<(u64, usize)>,
    /// Maximum node-hours that tasks may use in a day (UTC); `None` if unlimited.
    pub node_hours_per_day: Option<f64>,
    /// Seconds between SIGTERM and SIGKILL when a run is stopped.
    pub grace_s: f64,
    /// Seconds without a message after which a pilot's node no longer counts as idle.
    pub silence_s: f64,
    /// Seconds without an answered beat after which a pilot ends its ranks and itself.
    pub lease_s: f64,
    /// Seconds between a rejected pilot and the next request. The pause after a failed run of a task is this time
    /// multiplied by the task's number of failed runs in a row.
    pub retry_s: f64,
    /// Number of failed runs in a row, without progress, after which a task fails.
    pub max_failures: u32,
    /// A pilot gives back its node this many seconds before its wall time ends.
    pub lead_s: f64,
    /// Names of the classes of nodes; empty if all nodes are interchangeable.
    #[serde(default)]
    pub classes: Vec<String>,
}

/// Settings that can change while the journal continues.
const CHANGEABLE: [&str; 7] = [
    "max_pilots",
    "ladder",
    "node_hours_per_day",
    "silence_s",
    "retry_s",
    "max_failures",
    "lead_s",
];

/// Settings that every pilot receives when it connects. They can change only while there are no pilots, because the
/// daemon and its pilots must agree on when a lease expires.
const KNOWN_TO_PILOTS: [&str; 2] = ["grace_s", "lease_s"];

impl Settings {
    /// Checks that these settings can replace `old` without starting a new journal. `has_pilots` is true if any pilot
    /// has not ended.
    ///
    /// # Errors
    /// A setting that must not change has changed. The message names all such settings and the remedy.
    pub fn check_change(&self, old: &Settings, has_pilots: bool) -> Result<(), String> {
        let changed = old.differences(self);
        let named = |is_wanted: &dyn Fn(&str) -> bool| {
            let wanted = changed.iter().filter(|(name, _)| is_wanted(name));
            let texts: Vec<&str> = wanted.map(|(_, text)| text.as_str()).collect();
            texts.join("; ")
        };
        let is_fixed = |name: &str| !CHANGEABLE.contains(&name) && !KNOWN_TO_PILOTS.contains(&name);
        let fixed = named(&is_fixed);
        if !fixed.is_empty() {
            return Err(format!(
                "the journal was begun with other settings ({fixed}). Restore these settings, or begin a new journal \
                 with --state and a new directory"
            ));
        }
        let known = named(&|name| KNOWN_TO_PILOTS.contains(&name));
        if has_pilots && !known.is_empty() {
            return Err(format!(
                "the pilots were started with other settings ({known}). Restore these settings and run `gleaner \
                 harvest stop` before you change them"
            ));
        }
        Ok(())
    }

    /// The name of each setting that differs, and a text such as `max_tasks 10, now 12`.
    pub fn differences(&self, new: &Settings) -> Vec<(String, String)> {
        let fields = |settings| match serde_json::to_value(settings) {
            Ok(serde_json::Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        };
        let new = fields(new);
        let changed = fields(self).into_iter().filter_map(|(name, old)| {
            let new = new.get(&name).filter(|new| old != **new)?;
            let text = format!("{name} {old}, now {new}");
            Some((name, text))
        });
        changed.collect()
    }

    /// Checks the values of the settings.
    ///
    /// # Errors
    /// A setting is invalid. The message names the setting.
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
                let message = format!("{name}: found {value} s, expected from 0 to 86400 s");
                return Err(Error::Usage(message));
            }
        }
        if self.silence_s > self.lease_s {
            let (silence, lease) = (self.silence_s, self.lease_s);
            let message =
                format!("silence: found {silence} s, expected at most the lease of {lease} s");
            return Err(Error::Usage(message));
        }
        self.check_classes()
    }

    /// The time between SIGTERM and SIGKILL, in milliseconds.
    pub(crate) fn grace_ms(&self) -> Millis {
        (self.grace_s * 1000.0) as Millis
    }

    /// Creates an allocator without idle nodes or tasks.
    ///
    /// # Errors
    /// Same as [`Allocator::new`].
    pub(crate) fn new_allocator(&self, start: Utc) -> Result<Allocator<'static>> {
        let (settings, nodes) = (self.allocator_with_nodes(), self.max_nodes);
        Allocator::new(settings, Source::Batches, start, nodes, Box::new(Arrival))
    }

    /// The settings of the daemon's allocator, which has `max_nodes` nodes in each class.
    pub(super) fn allocator_with_nodes(&self) -> allocator::Settings {
        allocator::Settings {
            classes: self.node_classes(self.max_nodes),
            ..self.allocator(Objective::default())
        }
    }

    /// The settings of an allocator whose classes have no nodes. Such an allocator can check tasks.
    pub(crate) fn allocator(&self, objective: Objective) -> allocator::Settings {
        allocator::Settings {
            t_fwd: self.t_fwd_s,
            max_tasks: self.max_tasks,
            objective,
            groups: Arc::default(),
            shown_offset: 0,
            classes: self.node_classes(0),
        }
    }
}
