//! Scripted allocations, which a replay carries out instead of a solver's decisions.

use std::collections::BTreeMap;

/// The nodes that each task holds after each event.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// Indices of the nodes in the log, by event and then by task name.
    pub events: BTreeMap<usize, BTreeMap<String, Vec<u32>>>,
    /// The script's file, for messages.
    pub file: String,
}
