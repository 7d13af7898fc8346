//! Rules that choose nodes for growing tasks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The rule that chooses free nodes for a growing task. A plan fixes the number of nodes of each
/// task, but not the nodes themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRule {
    /// The nodes that have been idle longest, as in BFTrainer's replayer.
    Arrival,
    /// Nodes that are neighbours of each other and of the task's own nodes, by name or in the
    /// network.
    #[default]
    Blocks,
    /// Nodes that are neighbours in an order learnt from the log. In this order, nodes that became idle or busy at the
    /// same time are close to each other.
    Learned,
}

impl NodeRule {
    /// All rules.
    pub const ALL: [NodeRule; 3] = [NodeRule::Arrival, NodeRule::Blocks, NodeRule::Learned];

    /// Name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            NodeRule::Arrival => "arrival",
            NodeRule::Blocks => "blocks",
            NodeRule::Learned => "learned",
        }
    }

    /// Whether the rule uses an order of the nodes.
    pub fn uses_order(self) -> bool {
        match self {
            NodeRule::Arrival => false,
            NodeRule::Blocks | NodeRule::Learned => true,
        }
    }
}

impl fmt::Display for NodeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
