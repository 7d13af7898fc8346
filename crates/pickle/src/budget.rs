//! Limits how far a graph may be expanded.

use std::cell::Cell;

/// An amount, for example of memory, that a reader of a graph may spend on expanding the graph.
///
/// Nodes may be shared. A reader that copies a node for each reference to it pays for each copy, so
/// that a small file cannot exhaust memory or time.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    left: Cell<usize>,
}

impl Budget {
    /// A budget of `limit`, in any unit, for example bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let left = Cell::new(limit);
        Budget { limit, left }
    }

    /// The amount at the start.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Pays for `count` items of `size` each. Returns `None` and takes nothing if less is left.
    #[must_use]
    pub fn spend(&self, count: usize, size: usize) -> Option<()> {
        let left = self.left.get().checked_sub(count.checked_mul(size)?)?;
        self.left.set(left);
        Some(())
    }
}
