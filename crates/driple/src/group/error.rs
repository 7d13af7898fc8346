//! Errors that occur when graphs are grouped.

use crate::features::SizeError;

/// The reason why a graph cannot be grouped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// Two operations have the same name.
    #[error("two operations are called {0:?}, but names must differ; write the graph again")]
    Twice(String),
    /// No operation is on a GPU. Holds the number of nodes in the file.
    #[error(
        "none of the {0} nodes is on a GPU: no device name contains GPU; write the graph after its \
         operations are placed, or assume that graphs without devices run on GPUs"
    )]
    NothingOnGpus(usize),
    /// Too few operations remain to form the groups.
    #[error(
        "{connected} connected operations cannot form {groups} groups ({nodes} nodes, {on_gpus} on \
         GPUs, {connected} in the largest connected component); use fewer groups, or allow fewer \
         groups for small graphs"
    )]
    Few {
        /// The number of nodes in the file.
        nodes: usize,
        /// The number of nodes on GPUs.
        on_gpus: usize,
        /// The number of nodes in the largest connected component of the nodes on GPUs.
        connected: usize,
        /// The requested number of groups.
        groups: usize,
    },
    /// A tensor has more elements than can be counted.
    #[error("operation {node:?}: {fault}")]
    Size {
        /// The name of the operation.
        node: String,
        /// The fault in the size of its first output.
        fault: SizeError,
    },
    /// There are more operations than can be numbered.
    #[error("{0} operations are too many to group: expected fewer than 2^32 - 1")]
    TooMany(usize),
    /// The settings request 0 groups.
    #[error("the number of groups is 0; expected at least 1")]
    NoGroups,
    /// The settings allow 0 passes.
    #[error(
        "the maximum number of passes is 0; expected at least 1 (the published builder uses 101)"
    )]
    NoPasses,
}
