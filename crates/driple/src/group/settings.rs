//! The settings for grouping operations, and the report on the result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::GroupError;
use crate::graph::{Graph, Node};

/// The settings for grouping the operations of a graph. The defaults are those of the published
/// data sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The number of groups.
    pub groups: usize,
    /// Whether a graph with fewer operations than groups is accepted. In such a graph, each operation is a group of its
    /// own. The published builder rejects such graphs.
    pub allow_fewer: bool,
    /// The rule that selects the operations to keep.
    pub devices: Devices,
    /// The seed of the random numbers that determine the communities.
    pub seed: u64,
    /// The maximum number of passes over all operations. The published builder makes up to 101
    /// passes, because networkx 2.5.1 exceeds its limit of 100 by one. Few graphs need that many.
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

/// The rule that selects operations by their devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// Operations whose device contains `GPU`.
    #[default]
    Gpu,
    /// Operations whose device contains `GPU`, or all operations if no operation of the graph has a
    /// device.
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

/// A report on the grouping of a graph's operations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// The number of nodes in the file.
    pub nodes: usize,
    /// The number of nodes on the selected devices.
    pub on_gpus: usize,
    /// The number of nodes on the selected devices that were dropped because they have no edges.
    pub isolated: usize,
    /// The number of nodes on the selected devices that were dropped because they are in a smaller
    /// connected component.
    pub in_smaller_components: usize,
    /// The number of operations that were grouped. The counts of operations in the following fields
    /// include only grouped operations.
    pub grouped: usize,
    /// The number of operations whose output has an unknown number of dimensions. The size of such an output counts as
    /// 0.
    pub unknown_shapes: usize,
    /// The number of operations whose output has unknown dimensions. The size of such an output is
    /// the product of the dimensions after the last unknown dimension.
    pub unknown_dimensions: usize,
    /// For each type that is missing from the table of frequencies, the number of its operations.
    /// The frequency of such a type counts as 0.
    pub without_frequency: BTreeMap<String, usize>,
    /// The number of passes over all operations.
    pub passes: usize,
    /// Whether the last pass left all groups unchanged.
    pub converged: bool,
    /// The number of operations that no community reached in any pass. Each of these operations
    /// then joined the community of the nearest reached operation.
    pub unreached: usize,
}

impl Settings {
    /// Checks that there is at least one group and one pass.
    pub(super) fn check(&self) -> Result<(), GroupError> {
        if self.groups == 0 {
            return Err(GroupError::NoGroups);
        }
        if self.passes == 0 {
            return Err(GroupError::NoPasses);
        }
        Ok(())
    }

    /// The number of groups into which the remaining operations of a graph are divided.
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
