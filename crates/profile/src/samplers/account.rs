//! The processes of a workload and what they have used: of its control group, else by /proc.

use std::time::Duration;

use super::tree::Tree;
use crate::sampler::Watched;

/// The processes of a workload.
pub(super) struct Account {
    /// `None` if the workload has a control group.
    tree: Option<Tree>,
    /// Time on processors at the start of the window.
    start: Duration,
}

impl Account {
    /// Begins to count.
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

    /// Time on processors so far.
    fn cpu(&self, workload: Watched<'_>) -> Duration {
        match (&self.tree, workload.0.cgroup()) {
            (Some(tree), _) => tree.cpu(),
            (None, group) => group.and_then(|group| group.cpu()).unwrap_or_default(),
        }
    }

    /// Its processes.
    pub fn processes(&self, workload: Watched<'_>) -> Vec<u32> {
        match (&self.tree, workload.0.cgroup()) {
            (Some(tree), _) => tree.processes(),
            (None, group) => group.map(|group| group.processes()).unwrap_or_default(),
        }
    }

    /// Time on processors since the account was opened.
    pub fn used(&self, workload: Watched<'_>) -> Duration {
        self.cpu(workload).saturating_sub(self.start)
    }

    /// Looks at the processes.
    pub fn poll(&mut self) {
        self.tree.iter_mut().for_each(Tree::poll);
    }
}
