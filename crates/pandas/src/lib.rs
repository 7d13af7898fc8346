//! Reads pandas pickles as data. The result is a table of numbers, strings,
//! times and lists. Nothing in the file is ever executed.
//!
//! [`gleaner_pickle`] decodes the file and records the calls that it contains,
//! without making them. This crate has a closed list of the classes that a
//! `DataFrame` or `Series` of plain values needs (`globals`); any other class
//! is an error. From the recorded calls it builds arrays (`array`), labels
//! (`index`) and blocks (`manager`).
//!
//! The length of the input bounds time and memory: nothing recurses, and
//! expanding a shared value is charged to a budget (`graph`). Large buffers are
//! borrowed from the input, not copied.
//!
//! This crate reads files written by pandas 0.20 to 3 in pickle protocols 2 to
//! 5.
//!
//! ```
//! // pandas wrote this file with DataFrame.to_pickle.
//! # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/events-3.1.1-p5.pkl");
//! let bytes = std::fs::read(file)?;
//! let frame = gleaner_pandas::read_frame(&bytes)?;
//! assert_eq!(frame.rows(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod array;
mod arrow;
mod blocks;
mod buffer;
mod calendar;
mod calls;
mod cell;
mod column;
mod dtype;
mod error;
mod frame;
mod globals;
mod graph;
mod index;
mod manager;
mod matrix;
mod ndarray;
mod objects;
#[cfg(test)]
mod tests;

pub use blocks::{Block, BlockData};
pub use cell::{Cell, NAT};
pub use column::ColumnError;
pub use dtype::{ItemType, TimeUnit};
pub use error::{PickleError, Problem};
pub use frame::Frame;
pub use index::Labels;
pub use matrix::{Matrix, Order};

use graph::Graph;

/// Reads the pickle of a `DataFrame`, or of a `Series`, which becomes a table
/// with one column.
///
/// `bytes` is the whole, uncompressed file. Numeric data are not copied from `bytes`, so the run
/// time does not depend on the size of the matrices. The exception is protocol 2, in which matrices
/// are text that must be checked.
///
/// # Errors
/// The file is damaged, does not contain such a table, or names a class that is
/// not on the closed list.
pub fn read_frame(bytes: &[u8]) -> Result<Frame<'_>, PickleError> {
    frame::read(&Graph::new(bytes)?)
}
