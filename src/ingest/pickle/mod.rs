//! Reads pandas pickles as data: a table of numbers, texts, times and lists
//! comes out, and nothing in the file is ever executed.
//!
//! A pickle is a program for a small stack machine whose instructions may call
//! any Python function. Here the machine only *records* what it is told to
//! call (`machine`), from a closed list of the classes that a `DataFrame` or
//! `Series` of plain values needs (`globals`); any other name is an error.
//! The recorded graph is then read as arrays (`array`), labels
//! (`index`) and blocks (`manager`).
//!
//! Everything is bounded by the length of the input: lengths are checked
//! against the bytes that are left, nothing recurses, and a value shared by
//! reference is expanded against a budget (`graph`). Large buffers are
//! borrowed from the input, not copied.
//!
//! Files of pandas 0.20 to 3, pickle protocols 2 to 5, are read.

mod array;
mod arrow;
mod blocks;
mod buffer;
mod calendar;
mod cell;
mod column;
mod cursor;
mod dtype;
mod error;
mod frame;
mod globals;
mod graph;
mod index;
mod machine;
mod manager;
mod matrix;
mod ndarray;
mod objects;
mod opcode;
#[cfg(test)]
mod tests;
mod value;

pub use blocks::{Block, BlockData};
pub use cell::{Cell, NAT};
pub use column::ColumnError;
pub use dtype::{ItemType, TimeUnit};
pub use error::{PickleError, Problem};
pub use frame::Frame;
pub use index::Labels;
pub use matrix::{Matrix, Order};

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
    let graph = machine::run(bytes)?;
    frame::read(&graph)
}
