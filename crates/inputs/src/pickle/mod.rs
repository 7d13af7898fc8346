//! Reads pandas pickles as data: a table of numbers, texts, times and lists
//! comes out, and nothing in the file is ever executed.
//!
//! [`gleaner_pickle`] decodes the file and records the calls that it asks for.
//! Here is the closed list of the classes that a `DataFrame` or `Series` of
//! plain values needs (`globals`), and what is made of the record: arrays
//! (`array`), labels (`index`) and blocks (`manager`). Any other class is an
//! error.
//!
//! Everything is bounded by the length of the input: nothing recurses, and a
//! value shared by reference is expanded against a budget (`graph`). Large
//! buffers are borrowed from the input, not copied.
//!
//! Files of pandas 0.20 to 3, pickle protocols 2 to 5, are read.

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
mod fault;
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
pub(crate) use fault::{of_column, of_pickle};
pub use frame::Frame;
pub use index::Labels;
pub use matrix::{Matrix, Order};

use graph::Graph;

/// Reads the pickle of a `DataFrame` or a `Series` (which becomes a table of
/// one column).
///
/// `bytes` is the whole, uncompressed file. Numeric data stays in `bytes`:
/// the time this takes does not depend on the size of the matrices, except
/// under protocol 2, where they are text that has to be checked.
///
/// # Errors
/// Where the file is damaged, is not such a table, or names anything outside
/// the closed list of classes.
pub fn read_frame(bytes: &[u8]) -> Result<Frame<'_>, PickleError> {
    frame::read(&Graph::new(bytes)?)
}
