//! Groups of training tasks with joint limits.

use std::collections::BTreeMap;

/// Maximum number of groups in a set of tasks.
pub const MAX_GROUPS: usize = 1000;

/// Limits on the total number of nodes that several tasks hold together. A task can be in several groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskGroup {
    /// Name, unique among the groups of the set.
    pub name: String,
    /// Names of the group's tasks.
    pub tasks: Vec<String>,
    /// Minimum total number of nodes that the tasks must hold, as far as the idle nodes and the tasks' bounds allow.
    pub min_nodes: Option<u32>,
    /// Maximum total number of nodes that the tasks may hold, over all classes of nodes.
    pub max_nodes: Option<u32>,
    /// Maximum total number of nodes that the tasks may hold in each class, by class name. Classes that are not listed
    /// have no limit of their own.
    pub max_by_class: BTreeMap<String, u32>,
}
