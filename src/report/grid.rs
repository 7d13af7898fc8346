//! Tables of texts for people.

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub heads: Vec<Head>,
    /// Its rows, a text for each column.
    pub rows: Vec<Vec<String>>,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// With its unit.
    pub name: String,
    /// Whether its cells are numbers, which are set flush right.
    pub numeric: bool,
}

impl Head {
    /// Of a column of texts.
    pub fn text(name: impl Into<String>) -> Self {
        Head {
            name: name.into(),
            numeric: false,
        }
    }

    /// Of a column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Head {
            name: name.into(),
            numeric: true,
        }
    }
}

impl Grid {
    /// A table; rows come by [`Grid::row`].
    pub fn new(title: impl Into<String>, heads: impl IntoIterator<Item = Head>) -> Self {
        Grid {
            title: title.into(),
            heads: heads.into_iter().collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}
