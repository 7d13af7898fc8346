//! The most work that any allocator could have done that knew the whole log: an upper bound.
//!
//! # The relaxation
//!
//! An allocator gives each active task j a number of nodes n_j(i) in every interval i between two
//! events. Together they have at most the idle nodes, Σ_j n_j(i) ≤ N(i). A task with n nodes does
//! P_j(n) work a second. When it loses nodes it loses down_j·P_j(n) work, n being the number before.
//! When it gets nodes it loses up_j·P_j(n), or less if it lost others at the same event: at least
//! min(up_j, down_j)·P_j(n).
//!
//! What is left out makes the best allocator only better: which nodes leave, so that a task that
//! keeps its number never pays; the fewest nodes of a task; the end of its work; that tasks are
//! admitted when others finish (they are active here when they were in the replay).
//!
//! # The bound
//!
//! With a price p(i) ≥ 0 for a node in interval i, the sum of nodes need not be kept to (Lagrange's
//! relaxation): for any prices,
//!
//! ```text
//! best work  ≤  Σ_i p(i)·N(i)·seconds(i)  +  Σ_j max over n_j of (work − costs − price of n_j)
//! ```
//!
//! The second sum has one term for each task, found exactly by dynamic programming over intervals and
//! numbers of nodes. Costs depend on the number before and the direction alone, so one interval takes
//! time in proportion to the numbers, not to their pairs.
//!
//! The first prices are what one more node would earn if nothing cost anything. Then the bound is
//! already at most the costless one (for concave curves). A search then finds better prices.

mod best;
mod prices;
mod search;

/// A time between two events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its length in seconds, at least 0.
    pub seconds: f64,
    /// Number of idle nodes.
    pub idle: u32,
}

/// What tasks of a kind have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// Work per second on 0, 1, 2, … nodes; 0 on none. Not empty.
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

/// A replay: which nodes and tasks there were when.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// All intervals, one after the other.
    pub intervals: Vec<Interval>,
    /// The kinds of tasks.
    pub kinds: Vec<Kind>,
    /// All tasks.
    pub stays: Vec<Stay>,
}

/// An upper bound of the work, in the unit of the rates, that any allocator could have done in this
/// course with these costs.
///
/// It takes time in proportion to the sum of the lengths of the different stays times their numbers
/// of nodes: two seconds for 22,882 intervals with 100 tasks of up to 32 nodes.
///
/// # Panics
/// A stay names a kind or an interval that the course does not have.
pub fn bound(course: &Course) -> f64 {
    search::least(course, prices::first(course))
}
