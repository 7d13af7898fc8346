//! Converts the logs of batch schedulers, polls of node states, and traces of spot instances to logs of idle nodes.
//!
//! ```
//! use std::path::Path;
//!
//! use gleaner_logs::scheduler::{Format, Options, read_inputs};
//! use gleaner_io::input::Input;
//!
//! // One job on one processor from second 0 to 100, in the Standard Workload Format.
//! let log = "; MaxNodes: 2\n; MaxProcs: 2\n1 0 0 100 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n";
//! let input = Input::new(Path::new("log.swf"), log.as_bytes());
//! let holds = read_inputs([input], &Options::new(Format::Swf))?;
//! assert_eq!(holds.nodes().len(), 2);
//! # Ok::<(), gleaner_domain::Error>(())
//! ```

pub mod occupancy;
pub mod polls;
pub mod scheduler;
pub mod spot;
pub mod zone;
