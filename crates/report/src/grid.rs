//! Tables of formatted texts.

/// A table of formatted texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    /// The caption: what the table shows.
    pub title: String,
    /// The heads of its columns, in order.
    pub heads: Vec<Head>,
    /// Its rows, each with a text for every column.
    pub rows: Vec<Vec<String>>,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Name of the column, with its unit.
    pub name: String,
    /// Whether its cells are numbers, which are aligned to the right.
    pub numeric: bool,
}

impl Head {
    /// The head of a column of texts.
    pub fn text(name: impl Into<String>) -> Self {
        Head {
            name: name.into(),
            numeric: false,
        }
    }

    /// The head of a column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Head {
            name: name.into(),
            numeric: true,
        }
    }
}

impl Grid {
    /// A table without rows; [`Grid::row`] adds them.
    pub fn new(title: impl Into<String>, heads: impl IntoIterator<Item = Head>) -> Self {
        Grid {
            title: title.into(),
            heads: heads.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, with a text for every column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}
