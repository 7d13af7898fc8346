//! The holder of each node, and the intervals during which tasks held nodes.

use gleaner_domain::Utc;
use gleaner_domain::results::replay::AllocationRow;

use crate::allocator::Holding;

/// The holder of each node, and the rows of the table of allocations.
#[derive(Debug)]
pub(super) struct Holds {
    /// For each node, the task that holds it and the time at which the task got it; `None` if no task holds the node.
    by_node: Vec<Option<(u32, Utc)>>,
    pub rows: Vec<AllocationRow>,
}

impl Holds {
    /// Creates a record for `nodes` nodes, none of which is held by a task.
    pub fn new(nodes: usize) -> Self {
        Holds {
            by_node: vec![None; nodes],
            rows: Vec::new(),
        }
    }

    /// The task that holds a node; `None` if no task holds it.
    pub fn holder(&self, node: u32) -> Option<u32> {
        let (task, _) = (*self.by_node.get(node as usize)?)?;
        Some(task)
    }

    /// Records that a task receives a node.
    pub fn begin(&mut self, holding: Holding, now: Utc) {
        self.by_node[holding.node as usize] = Some((holding.task, now));
    }

    /// Records that the holder of a node loses the node, and returns the holder. An interval of length 0 gets
    /// no row.
    pub fn end(&mut self, node: u32, now: Utc) -> Option<u32> {
        let (task, from) = self.by_node.get_mut(node as usize)?.take()?;
        if from < now {
            self.rows.push(AllocationRow {
                task,
                node,
                from,
                to: now,
            });
        }
        Some(task)
    }
}
