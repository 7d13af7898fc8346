//! From the operations of a graph to the groups that an inspector sees.
//!
//! The operations on GPUs and the data and control edges between them are kept, isolated operations
//! and all but the largest connected component are dropped, asynchronous fluid communities make the
//! groups, and each group becomes one node.

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
pub use kinds::Unweighed;
pub use settings::{Devices, Report, Settings};

use crate::features::Frequencies;
use crate::graph::{Graph, GroupedGraph};

/// A grouped graph and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Grouping {
    /// The graph, its nodes the groups.
    pub graph: GroupedGraph,
    /// By node of the file: its group; `None` of those that are left out.
    pub groups: Vec<Option<u32>>,
    /// What was left out, and what was not known.
    pub report: Report,
}

/// Groups the operations of a graph. The same graph and settings give the same groups.
///
/// # Errors
/// Where too few operations on GPUs are connected, a name or a size is no possible one, or the
/// settings ask for no groups or no passes.
pub fn group(
    graph: &Graph,
    frequencies: &Frequencies,
    settings: &Settings,
) -> Result<Grouping, GroupError> {
    Ok(unweighed(graph, settings)?.weigh(frequencies))
}

/// Groups the operations of a graph, and leaves their frequencies to be added once they are known,
/// for which the graph is no longer needed.
///
/// # Errors
/// As [`group`].
pub fn unweighed(graph: &Graph, settings: &Settings) -> Result<Unweighed, GroupError> {
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
    Ok(Unweighed::new(
        grouping,
        kinds.zip(found.of.iter().copied()),
        on_gpus,
    ))
}
