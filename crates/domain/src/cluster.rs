//! GPU clusters, which are divided into virtual clusters. All nodes have the same number of GPUs.

/// Memory of a GPU, in MB. This is the memory of the GPUs on which Lucid measured pairs of jobs.
pub const GPU_MEMORY: f64 = 24_576.0;

/// A cluster split into virtual clusters, which are scheduled separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The virtual clusters, in the order of the file that names them.
    pub vcs: Vec<VirtualCluster>,
    /// Number of GPUs per node, from 1 to [`MAX_GPUS_PER_NODE`].
    pub gpus_per_node: u32,
}

/// Maximum number of nodes in a cluster, over all its VCs.
pub const MAX_NODES: i64 = 1_000_000;

/// Maximum number of GPUs per node: a node's GPUs are the bits of a [`GpuSet`].
pub const MAX_GPUS_PER_NODE: u32 = 64;

/// A set of GPUs of one node; bit `i` represents GPU `i`.
pub type GpuSet = u64;

/// A virtual cluster (VC): a part of the cluster with its own queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualCluster {
    /// Name of the VC, unique in the cluster.
    pub name: String,
    /// Number of nodes in the VC.
    pub nodes: u32,
}

impl Cluster {
    /// The index of the virtual cluster with this name; `None` if there is no such VC.
    pub fn vc(&self, name: &str) -> Option<usize> {
        self.vcs.iter().position(|vc| vc.name == name)
    }

    /// Number of GPUs in a virtual cluster.
    pub fn vc_gpus(&self, vc: usize) -> u64 {
        u64::from(self.vcs[vc].nodes) * u64::from(self.gpus_per_node)
    }

    /// Total number of GPUs in all virtual clusters.
    pub fn gpus(&self) -> u64 {
        (0..self.vcs.len()).map(|vc| self.vc_gpus(vc)).sum()
    }
}
