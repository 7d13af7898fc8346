//! Derives the idle times of nodes from the holds on them.
//!
//! A scheduler's log records which nodes were held, when, and by what: jobs, outages or reservations. Readers turn each
//! hold into two [`Edge`]s per run of consecutive nodes, a start and an end. From the sorted edges, [`sweep()`] finds
//! the nodes that nothing holds. Its memory use depends only on the number of nodes, not on the length of the log.
//!
//! Some logs state only the number of nodes of each job. For such logs, a [`Dealer`] first assigns
//! nodes to the jobs.

pub mod bounds;
mod counted;
mod deal;
mod edge;
mod heads;
mod ranges;
mod sweep;

pub use counted::{CountedIdle, InUse};
pub use deal::{CountedJob, Dealer, OPEN, Short};
pub use edge::{Edge, Hold};
pub use ranges::{NodeRange, merge_ranges};
pub use sweep::{Event, OccupancySummary, Overlaps, Shares, Window, sweep};
