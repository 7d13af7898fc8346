//! An upper bound on the work of any allocator, even one that knew the whole log.
//!
//! # The relaxation
//!
//! An allocator gives each active task j a number of nodes n_j(i) in every interval i between two
//! events. No task gets more than the idle nodes, n_j(i) ≤ N(i), and neither do all tasks together, Σ_j n_j(i) ≤ N(i).
//! A task with n nodes does P_j(n) work per second. When it loses nodes, it loses down_j·P_j(n) work, where n is the
//! number before the loss. When it gets nodes, it loses up_j·P_j(n), or less if it lost others at the same event: at
//! least min(up_j, down_j)·P_j(n).
//!
//! The model makes three simplifications, which can only improve the best allocator. It ignores which
//! nodes leave, so a task that keeps its number of nodes never pays. A task's work never ends. Tasks are
//! active here when they were active in the replay, although other finish times would change their
//! admission.
//!
//! # The bound
//!
//! Give a node in interval i a price p(i) ≥ 0, and drop the limit on the sum of nodes (Lagrangian
//! relaxation). Each task still keeps its own limit. For any prices,
//!
//! ```text
//! best work  ≤  Σ_i p(i)·N(i)·seconds(i)  +  Σ_j max over n_j of (work − costs − price of n_j)
//! ```
//!
//! The second sum has one term for each task, found exactly by dynamic programming over intervals and numbers of nodes.
//! Costs depend only on the number before and the direction. So one interval takes time in proportion to the numbers,
//! not to their pairs.
//!
//! The initial prices are the marginal values of one more node if rescaling were free. For concave
//! curves, the bound at these prices is already at most the work of the best cost-free split of every
//! interval. For other curves, it may exceed that work, which is also an upper bound: callers take the
//! smaller of the two. A search then improves the prices.
//!
//! Example: one node is idle for 10 s, busy for 1 s, and idle for 10 s again. Each of two tasks does 10 units of work
//! per second on it. A task loses 20 units when its node leaves, and growing is free. The initial prices of 10 give the
//! bound 10·10 + 10·10 = 200, because no task gains anything at them. The prices 8 and then 10 give 8·10 + 10·10 = 180:
//! before the pause a task gains 2·10 at most, and it loses 20 at the pause. The best allocator does 100 − 20 + 100 =
//! 180, so this bound is exact.

mod best;
mod prices;
mod search;

use gleaner_domain::Observer;

/// A time between two events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its length in seconds, at least 0.
    pub seconds: f64,
    /// Number of idle nodes.
    pub idle: u32,
}

/// The properties that all tasks of a kind share.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Work per second on 0, 1, 2, … nodes; 0 on no nodes and on too few nodes to run. Not empty.
    pub rates: Vec<f64>,
    /// Seconds of progress lost when a task gets nodes, at least 0.
    pub rescale_up: f64,
    /// Seconds of progress lost when it loses nodes, at least 0.
    pub rescale_down: f64,
}

/// A task that is active from the interval `from` to the one before `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stay {
    /// Index of its kind.
    pub kind: u32,
    /// First interval.
    pub from: u32,
    /// The interval after the last.
    pub to: u32,
}

/// A replay: its idle nodes and active tasks over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// All intervals, one after the other.
    pub intervals: Vec<Interval>,
    /// The kinds of tasks.
    pub kinds: Vec<Kind>,
    /// All tasks.
    pub stays: Vec<Stay>,
}

/// An upper bound on the work, in the unit of the rates, that any allocator could have done in this
/// course with these costs.
///
/// The computation takes time in proportion to the sum, over the distinct stays, of their length times their number of
/// nodes: two seconds for 22,882 intervals with 100 tasks of up to 32 nodes.
///
/// Returns `None` if it was stopped early. The flag is checked between tasks. The observer receives progress in rounds
/// of the search.
///
/// # Panics
/// A stay names a kind or an interval that the course does not have.
pub fn bound(course: &Course, observer: &dyn Observer) -> Option<f64> {
    if observer.is_stopped() {
        return None;
    }
    search::least(course, prices::first(course), observer)
}
