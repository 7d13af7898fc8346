//! Pilot jobs on the idle nodes of a supercomputer: the idle time that they use, and the wall times that maximise this
//! use.
//!
//! A **pilot** is a job that holds a node until another job needs it. A pilot first starts up, and is then **ready**
//! to work, for example as an OpenWhisk invoker, a workflow worker or a Ray node. A pilot is submitted with a wall
//! time from a **ladder**, a set of **lengths** such as 2, 4, 8 and 16 minutes. A **fragment** is a
//! period during which a node is idle. This crate computes how much of the idle time is covered by ready pilots. Three
//! models differ in what the batch scheduler knows and in what a preempted pilot loses:
//!
//! | model | the scheduler knows a fragment's length | a preempted pilot |
//! |---|---|---|
//! | [`fits`] | yes: it starts only pilots that end within the fragment | (no pilot is preempted) |
//! | [`kept`] | no | keeps the work that it did before its preemption |
//! | [`lost`] | no | loses its work |
//!
//! All times are whole numbers in one unit, which the caller chooses: seconds, or polls of a monitor.
//!
//! ```
//! use gleaner_pilots::{Costs, Fragments, Ladder, fits, kept};
//!
//! // Two fragments, of 10 and 25 minutes, in seconds.
//! let fragments = Fragments::new([600, 1500])?;
//! let costs = Costs { startup: 20, delay: 10 };
//! let ladder = Ladder::new([120, 480], costs)?;
//! // The first fragment holds one pilot of 10 + 480 s, which leaves 110 s. The second holds three, which leave 30 s.
//! assert_eq!(fits(&fragments, &ladder).ready, 4 * (480 - 20));
//! assert_eq!(kept(&fragments, costs).ready, 570 + 1470);
//! # Ok::<(), gleaner_pilots::Fault>(())
//! ```
//!
//! Under [`fits`], [`best`] finds the ladder with the most ready time for a given maximum number of lengths. Ladders
//! and the terms above come from Przybylski et al., "Using Unused: Non-Invasive Dynamic FaaS Infrastructure with
//! HPC-Whisk", SC 2022. The paper's artifact (github.com/hpcwhisk/hpcwhisk-artifact) simulates [`fits`].

mod best;
mod fits;
mod fragments;
mod kept;
mod ladder;
mod lost;

pub use best::{Best, Grid, MOST_CANDIDATES, MOST_LENGTHS, best};
pub use fits::{Fits, Placed, fits, placed};
pub use fragments::Fragments;
pub use kept::{Kept, kept};
pub use ladder::{Costs, Fault, LONGEST, Ladder};
pub use lost::{Lost, MOST_AGES, Step, lost, planned};
