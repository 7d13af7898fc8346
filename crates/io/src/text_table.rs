//! Text tables: columns of equal width, the first aligned to the left, the others to the right.

use std::fmt::Write as _;

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;
/// Number of spaces between columns.
const GAP: usize = 2;

/// A text table: the first column is aligned to the left, the others to the right.
pub struct TextTable {
    /// The header is the first row.
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl TextTable {
    /// A table of cells. Every row must have as many cells as the header.
    pub fn new<'h>(
        header: impl IntoIterator<Item = &'h str>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let header = header.into_iter().map(str::to_owned).collect();
        let rows: Vec<Vec<String>> = std::iter::once(header).chain(rows).collect();
        let columns = rows[0].len();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        TextTable { rows, widths }
    }

    /// The columns after the first, divided into as many blocks as it takes to stay within
    /// [`WIDTH`].
    fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let mut blocks = Vec::new();
        let (mut first, mut used) = (1, self.widths[0]);
        for column in 1..self.widths.len() {
            let wanted = GAP + self.widths[column];
            if used + wanted > WIDTH && column > first {
                blocks.push(first..column);
                (first, used) = (column, self.widths[0]);
            }
            used += wanted;
        }
        blocks.push(first..self.widths.len());
        blocks
    }
}

impl std::fmt::Display for TextTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, block) in self.blocks().into_iter().enumerate() {
            if number > 0 {
                f.write_char('\n')?;
            }
            for row in &self.rows {
                write!(f, "{:width$}", row[0], width = self.widths[0])?;
                for column in block.clone() {
                    let width = GAP + self.widths[column];
                    write!(f, "{:>width$}", row[column])?;
                }
                f.write_char('\n')?;
            }
        }
        Ok(())
    }
}
