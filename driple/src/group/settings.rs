//! How operations are grouped, and what became of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::GroupError;
use crate::graph::{Graph, Node};

/// How the operations of a graph are grouped. The default is that of the published data sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of groups.
    pub groups: usize,
    /// Whether a graph of fewer operations than groups is given a group for each operation. The
    /// published builder refuses such graphs.
    pub allow_fewer: bool,
    /// Which operations are kept.
    pub devices: Devices,
    /// The seed of the groups.
    pub seed: u64,
    /// The most passes over all operations. The published builder, on networkx 2.5.1, makes up to
    /// 101; few graphs need as many.
    pub passes: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            groups: 100,
            allow_fewer: false,
            devices: Devices::Gpu,
            seed: 42,
            passes: 101,
        }
    }
}

/// Which operations of a graph are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// Those whose device has `GPU` in it.
    #[default]
    Gpu,
    /// The same, but all of a graph in which no operation has a device.
    GpuOrUnplaced,
}

impl Devices {
    /// The operations that are kept, with their positions in the graph.
    pub fn nodes(self, graph: &Graph) -> impl Iterator<Item = (usize, &Node)> {
        let unplaced = || graph.nodes.iter().all(|node| node.device.is_empty());
        let all = self == Devices::GpuOrUnplaced && unplaced();
        let nodes = graph.nodes.iter().enumerate();
        nodes.filter(move |(_, node)| all || node.device.contains("GPU"))
    }
}

/// What became of the operations of a graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// Nodes of the file.
    pub nodes: usize,
    /// Nodes that the choice of devices keeps.
    pub on_gpus: usize,
    /// Of those, without an edge to another, and dropped.
    pub isolated: usize,
    /// Of those, not in the largest connected component, and dropped.
    pub in_smaller_components: usize,
    /// Of those, grouped. All counts below are of these.
    pub grouped: usize,
    /// Without a known number of dimensions: counted as tensors without elements.
    pub unknown_shapes: usize,
    /// With dimensions that are not known: only those after the last such one are counted.
    pub unknown_dimensions: usize,
    /// By type: the operations whose types the table of frequencies lacks, counted as frequency 0.
    pub without_frequency: BTreeMap<String, usize>,
    /// Passes over all operations.
    pub passes: usize,
    /// Whether the last pass changed no group.
    pub converged: bool,
    /// Operations that no group reached in all passes, which then joined that of the nearest.
    pub unreached: usize,
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), GroupError> {
        if self.groups == 0 {
            return Err(GroupError::NoGroups);
        }
        if self.passes == 0 {
            return Err(GroupError::NoPasses);
        }
        Ok(())
    }

    /// The number of groups for what is left of a graph.
    pub(super) fn count(&self, report: &Report) -> Result<usize, GroupError> {
        if report.on_gpus == 0 {
            return Err(GroupError::NothingOnGpus(report.nodes));
        }
        if report.grouped >= self.groups {
            return Ok(self.groups);
        }
        if self.allow_fewer && report.grouped > 0 {
            return Ok(report.grouped);
        }
        Err(GroupError::Few {
            nodes: report.nodes,
            on_gpus: report.on_gpus,
            connected: report.grouped,
            groups: self.groups,
        })
    }
}
