//! Limits the expansion of a graph.

use std::cell::Cell;

/// The amount of a resource, such as memory, that a reader is allowed to spend on expanding a graph.
///
/// Several references can share a node. A reader that copies the node for each reference spends budget on each copy, so
/// a small file cannot exhaust memory or time.
#[derive(Debug)]
pub struct Budget {
    limit: usize,
    left: Cell<usize>,
}

impl Budget {
    /// Creates a budget of `limit` units, such as bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let left = Cell::new(limit);
        Budget { limit, left }
    }

    /// The amount that the budget had at the start.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Spends budget on `count` items of `size` each. If the remaining budget is too small, spends nothing and returns
    /// `None`.
    #[must_use]
    pub fn spend(&self, count: usize, size: usize) -> Option<()> {
        let left = self.left.get().checked_sub(count.checked_mul(size)?)?;
        self.left.set(left);
        Some(())
    }
}
