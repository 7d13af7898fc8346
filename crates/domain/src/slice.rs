//! Parts of event logs.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Stamp;
use super::stamp::{as_text, from_text};

/// A part of a log: a range of rows and a range of nodes. BFTrainer's replayer selects the same part with pandas, as
/// `iloc[skip_rows:, first_node : first_node + nodes]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Slice {
    /// Number of rows dropped at the start.
    pub skip_rows: usize,
    /// Index of the first node kept.
    pub first_node: usize,
    /// Number of nodes kept; `None` keeps `first_node` and all nodes after it.
    pub nodes: Option<usize>,
    /// Rows before this time are also dropped.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub from: Option<Stamp>,
    /// Rows after this time are dropped.
    #[serde(serialize_with = "as_text", deserialize_with = "from_text")]
    pub to: Option<Stamp>,
    /// Whether to drop the last row if no node changes there, as BFTrainer's replayer does. Otherwise, the row is kept,
    /// because it marks the end of the log.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drop_end_row: bool,
    /// Whether to keep the rows in which no selected node changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_rows: bool,
}

impl fmt::Display for Slice {
    /// Writes the slice in the syntax of a sweep's plan. Fields with default values are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Slice::default();
        let count = |name: &str, value: usize, default: usize| {
            (value != default).then(|| format!("{name} = {value}"))
        };
        let time = |name: &str, time: Option<Stamp>| time.map(|time| format!("{name} = {time}"));
        let parts = [
            count("skip_rows", self.skip_rows, all.skip_rows),
            count("first_node", self.first_node, all.first_node),
            self.nodes.map(|nodes| format!("nodes = {nodes}")),
            time("from", self.from),
            time("to", self.to),
            self.drop_end_row.then(|| "drop_end_row = true".to_owned()),
            self.all_rows.then(|| "all_rows = true".to_owned()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        write!(f, "{{ {} }}", parts.join(", "))
    }
}
