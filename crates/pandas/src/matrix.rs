//! Numeric data of a table: a matrix of items, stored as bytes from the file.

use std::borrow::Cow;

use super::cell::Cell;
use super::dtype::ItemType;

/// The order of the items in the bytes of a [`Matrix`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Column by column: the items of a column are adjacent.
    Columns,
    /// Row by row: the items of a row are adjacent.
    Rows,
}

/// Columns of one item type, stored together.
///
/// The bytes are exactly `columns * rows` items, little-endian, and normally
/// borrowed from the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix<'a> {
    bytes: Cow<'a, [u8]>,
    item: ItemType,
    columns: usize,
    rows: usize,
    order: Order,
}

impl<'a> Matrix<'a> {
    /// Creates a matrix from bytes; `None` if the number of bytes does not
    /// match the number of items.
    pub(super) fn new(
        bytes: Cow<'a, [u8]>,
        item: ItemType,
        columns: usize,
        rows: usize,
        order: Order,
    ) -> Option<Self> {
        let needed = columns.checked_mul(rows)?.checked_mul(item.size())?;
        // If there is only one column or row, its items are adjacent in either
        // order.
        let order = match (columns, rows) {
            (0 | 1, _) => Order::Columns,
            (_, 0 | 1) => Order::Rows,
            _ => order,
        };
        (bytes.len() == needed).then_some(Self {
            bytes,
            item,
            columns,
            rows,
            order,
        })
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Type of the items.
    pub fn item(&self) -> ItemType {
        self.item
    }

    /// The order of the items in [`Matrix::bytes`].
    pub fn order(&self) -> Order {
        self.order
    }

    /// All items, in [`Matrix::order`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of one column, if they are contiguous. `None` if the matrix is stored by rows or has no such column.
    pub fn column_bytes(&self, column: usize) -> Option<&[u8]> {
        (self.order == Order::Columns && column < self.columns)
            .then(|| self.line(column, self.rows))?
    }

    /// The bytes of one row, if they are contiguous. `None` if the matrix is stored by columns or has no such row.
    pub fn row_bytes(&self, row: usize) -> Option<&[u8]> {
        (self.order == Order::Rows && row < self.rows).then(|| self.line(row, self.columns))?
    }

    fn line(&self, index: usize, items: usize) -> Option<&[u8]> {
        let len = items * self.item.size();
        self.bytes.get(index * len..(index + 1) * len)
    }

    /// One item. `None` if the item is outside the matrix.
    pub fn cell(&self, column: usize, row: usize) -> Option<Cell<'static>> {
        if column >= self.columns || row >= self.rows {
            return None;
        }
        let index = match self.order {
            Order::Columns => column * self.rows + row,
            Order::Rows => row * self.columns + column,
        };
        let size = self.item.size();
        let bytes = self.bytes.get(index * size..(index + 1) * size)?;
        Some(self.item.cell(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(order: Order) -> Matrix<'static> {
        let bytes = Cow::Borrowed(&[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0][..]);
        Matrix::new(bytes, ItemType::I16, 2, 3, order).unwrap()
    }

    /// Tests two columns of three items, in both orders.
    #[test]
    fn finds_items_in_both_orders() {
        let by_columns = matrix(Order::Columns);
        assert_eq!(by_columns.cell(1, 0), Some(Cell::Int(4)));
        assert_eq!(by_columns.column_bytes(1), Some(&[4, 0, 5, 0, 6, 0][..]));
        assert_eq!(by_columns.row_bytes(0), None);
        let by_rows = matrix(Order::Rows);
        assert_eq!(by_rows.cell(1, 0), Some(Cell::Int(2)));
        assert_eq!(by_rows.row_bytes(2), Some(&[5, 0, 6, 0][..]));
        assert_eq!(by_rows.column_bytes(0), None);
    }

    #[test]
    fn returns_none_outside_the_matrix() {
        let matrix = matrix(Order::Columns);
        assert_eq!(matrix.cell(2, 0), None);
        assert_eq!(matrix.cell(0, 3), None);
        assert_eq!(matrix.column_bytes(2), None);
    }

    #[test]
    fn refuses_a_wrong_number_of_bytes() {
        let bytes = Cow::Borrowed(&[0; 5][..]);
        assert_eq!(
            Matrix::new(bytes.clone(), ItemType::I8, 2, 3, Order::Rows),
            None
        );
        assert_eq!(
            Matrix::new(bytes, ItemType::F64, usize::MAX, 2, Order::Rows),
            None
        );
    }
}
