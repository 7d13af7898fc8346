//! The processes of a workload and their CPU time. Both are read from the control group of the
//! workload, or from /proc if the workload has no control group.

use std::time::Duration;

use super::tree::Tree;
use crate::sampler::Watched;

/// The processes of a workload, and the CPU time that they use in a window.
pub(super) struct Account {
    /// The processes found in /proc; `None` if the workload has a control group.
    tree: Option<Tree>,
    /// CPU time at the start of the window.
    start: Duration,
}

impl Account {
    /// Starts to count the CPU time of a workload.
    pub fn open(workload: Watched<'_>) -> Self {
        let tree = match workload.0.cgroup() {
            Some(_) => None,
            None => Some(Tree::new(workload.0.id())),
        };
        let mut account = Account {
            tree,
            start: Duration::ZERO,
        };
        account.start = account.cpu(workload);
        account
    }

    /// CPU time that the workload has used since its start.
    fn cpu(&self, workload: Watched<'_>) -> Duration {
        match (&self.tree, workload.0.cgroup()) {
            (Some(tree), _) => tree.cpu(),
            (None, group) => group.and_then(|group| group.cpu()).unwrap_or_default(),
        }
    }

    /// Process ids of the workload.
    pub fn processes(&self, workload: Watched<'_>) -> Vec<u32> {
        match (&self.tree, workload.0.cgroup()) {
            (Some(tree), _) => tree.processes(),
            (None, group) => group.map(|group| group.processes()).unwrap_or_default(),
        }
    }

    /// CPU time that the workload has used since the start of the window.
    pub fn used(&self, workload: Watched<'_>) -> Duration {
        self.cpu(workload).saturating_sub(self.start)
    }

    /// Samples the processes found in /proc. Does nothing if the workload has a control group.
    pub fn poll(&mut self) {
        self.tree.iter_mut().for_each(Tree::poll);
    }
}
