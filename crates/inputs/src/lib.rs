//! Readers of the inputs of replays and simulations: event logs, classes of nodes, tasks, searches, topologies, tables
//! of jobs, and models. Each input can be read in all of its common formats. Most inputs can also be written.
//!
//! ```
//! use std::io::Write;
//!
//! // Node n1 is idle for 100 seconds.
//! let mut file = tempfile::Builder::new().suffix(".csv").tempfile()?;
//! writeln!(file, "time,node,state\n0,n1,1\n100,n1,0")?;
//! let log = gleaner_inputs::events::read(file.path())?.value;
//! assert_eq!(log.idle_node_seconds(), 100.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod driple;
pub mod events;
mod hosts;
pub mod jobs;
pub mod learning_curves;
pub mod model;
pub mod node_classes;
mod pickled;
pub mod problems;
mod rows;
pub mod script;
pub mod tasks;
pub mod topology;
pub mod write;

pub use rows::{InputColumn, Need};
