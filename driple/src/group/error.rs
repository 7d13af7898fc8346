//! Why a graph cannot be grouped.

use crate::features::SizeError;

/// Why a graph cannot be grouped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// Two operations of one name.
    #[error("two operations are called {0:?}; names have to differ: write the graph again")]
    Twice(String),
    /// No operation is kept.
    #[error(
        "none of the {0} nodes is on a GPU: their devices have to contain GPU; write the graph \
         after its operations are placed, or group graphs without devices as on GPUs"
    )]
    NothingOnGpus(usize),
    /// Too few operations.
    #[error(
        "{connected} connected operations cannot make {groups} groups ({nodes} nodes, {on_gpus} on \
         GPUs, {connected} in the largest connected component); ask for fewer groups, or allow \
         fewer where a graph is small"
    )]
    Few {
        /// Nodes of the file.
        nodes: usize,
        /// Of those, on GPUs.
        on_gpus: usize,
        /// Of those, in the largest connected component.
        connected: usize,
        /// Groups asked for.
        groups: usize,
    },
    /// A size beyond what can be counted.
    #[error("operation {node:?}: {fault}")]
    Size {
        /// The operation.
        node: String,
        /// What is wrong with its size.
        fault: SizeError,
    },
    /// More operations than can be numbered.
    #[error("{0} operations are too many: fewer than 2^32 - 1 can be grouped")]
    TooMany(usize),
    /// No groups are asked for.
    #[error("0 groups are asked for; ask for at least 1")]
    NoGroups,
    /// No passes are allowed.
    #[error("0 passes are allowed; allow at least 1 (the published builder: 101)")]
    NoPasses,
}
