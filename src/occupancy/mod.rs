//! From what holds nodes to when they are idle.
//!
//! A scheduler's log says what held which nodes and when: jobs, outages, reservations.
//! Readers turn each into two [`Edge`]s a run of consecutive nodes, a start and an end.
//! Sorted, they are all that [`sweep()`] needs to tell which nodes nothing holds:
//! memory for the nodes alone, however long the log.
//!
//! Logs that only count nodes are dealt some by a [`Dealer`] first.

mod deal;
mod edge;
mod heads;
mod ranges;
mod sweep;

pub use deal::{CountedJob, Dealer, OPEN, Short};
pub use edge::{Edge, Hold};
pub use ranges::{NodeRange, merge_ranges};
pub use sweep::{OccupancySummary, Overlaps, Shares, Window, sweep};
