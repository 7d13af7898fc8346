//! A frame's columns as pandas stores them: in blocks, each of which contains columns of one type.

use super::cell::Cell;
use super::matrix::Matrix;

/// Columns of one type, stored together.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<'a> {
    pub(super) columns: Vec<usize>,
    pub(super) data: BlockData<'a>,
}

/// The values of a [`Block`].
#[derive(Debug, Clone, PartialEq)]
pub enum BlockData<'a> {
    /// Numbers, booleans or times, as bytes from the file.
    Numbers(Matrix<'a>),
    /// Strings and objects, column by column.
    Cells(Vec<Cell<'a>>),
}

impl<'a> Block<'a> {
    /// The positions of the block's columns in the frame: column `k` of the
    /// data is column `columns()[k]` of the frame.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The values of the block's columns.
    pub fn data(&self) -> &BlockData<'a> {
        &self.data
    }
}
