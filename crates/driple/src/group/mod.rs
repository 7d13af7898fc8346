//! Groups the operations of a graph for an inspector.
//!
//! 1. Only operations on GPUs are kept, with the data and control edges between them.
//! 2. Isolated operations are dropped, and so are all connected components except the largest.
//! 3. The remaining operations are divided into asynchronous fluid communities, which are the
//!    groups.
//! 4. Each group is merged into one node.

mod adjacency;
mod clean;
mod error;
mod fluid;
mod kinds;
mod merge;
mod ops;
mod settings;

pub use adjacency::Adjacency;
pub use error::GroupError;
pub use fluid::{Communities, communities};
pub use kinds::WithoutFrequencies;
pub use settings::{Devices, Report, Settings};

use crate::features::Frequencies;
use crate::graph::{Graph, GroupedGraph};

/// A grouped graph and a report about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouping {
    /// The grouped graph. Each node is a group.
    pub graph: GroupedGraph,
    /// The group of each node of the file; `None` if the node was left out.
    pub groups: Vec<Option<u32>>,
    /// The counts of operations that were left out, and of unknown shapes and frequencies.
    pub report: Report,
}

/// Groups the operations of a graph. The same graph and settings always give the same groups.
///
/// # Errors
/// Too few operations on GPUs are connected, or two of them have the same name. A tensor has more
/// elements than can be counted. The settings request 0 groups or 0 passes.
pub fn group(
    graph: &Graph,
    frequencies: &Frequencies,
    settings: &Settings,
) -> Result<Grouping, GroupError> {
    Ok(unweighed(graph, settings)?.weigh(frequencies))
}

/// Groups the operations of a graph without the frequencies of their types.
/// [`WithoutFrequencies::weigh`] adds the frequencies once they are known, and does not need the
/// graph.
///
/// # Errors
/// Same as [`group`].
pub fn unweighed(graph: &Graph, settings: &Settings) -> Result<WithoutFrequencies, GroupError> {
    settings.check()?;
    let placed = ops::on_gpus(graph, settings.devices)?;
    let kept = clean::largest_component(&placed.adjacency);
    let ops: Vec<usize> = kept.vertices.iter().map(|&op| placed.nodes[op]).collect();
    let mut report = Report {
        nodes: graph.nodes.len(),
        on_gpus: placed.nodes.len(),
        isolated: kept.isolated,
        in_smaller_components: placed.nodes.len() - kept.isolated - ops.len(),
        grouped: ops.len(),
        ..Report::default()
    };
    let count = settings.count(&report)?;
    let found = communities(&kept.adjacency, count, settings.seed, settings.passes);
    report.passes = found.passes;
    report.converged = found.converged;
    report.unreached = found.unreached;
    let grouped = merge::merge(graph, &ops, &kept.adjacency, &found, &mut report)?;
    let mut groups = vec![None; graph.nodes.len()];
    for (&node, &group) in ops.iter().zip(&found.of) {
        groups[node] = Some(group);
    }
    let grouping = Grouping {
        graph: grouped,
        groups,
        report,
    };
    let kinds = ops.iter().map(|&op| graph.nodes[op].op.as_str());
    let on_gpus = placed.nodes.iter().map(|&op| graph.nodes[op].op.as_str());
    Ok(WithoutFrequencies::new(
        grouping,
        kinds.zip(found.of.iter().copied()),
        on_gpus,
    ))
}
