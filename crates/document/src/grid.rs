//! Tables of formatted cells.

/// A table of formatted cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    /// The caption, which states what the table shows.
    pub title: String,
    /// The column heads, in order.
    pub heads: Vec<Head>,
    /// The rows, each with one cell for every column.
    pub rows: Vec<Vec<String>>,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Name of the column, with its unit.
    pub name: String,
    /// The kind of content in the column's cells.
    pub kind: Kind,
    /// One-line explanation of the column; may be empty.
    pub meaning: &'static str,
}

/// The kinds of content that a column's cells can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text, left-aligned.
    Text,
    /// Numbers, right-aligned.
    Number,
    /// Bars drawn with characters. A page omits bar columns, because it shows a figure instead.
    Bar,
}

impl Head {
    /// The head of a text column.
    pub fn text(name: impl Into<String>) -> Self {
        Head::new(name, Kind::Text)
    }

    /// The head of a number column.
    pub fn number(name: impl Into<String>) -> Self {
        Head::new(name, Kind::Number)
    }

    /// The head of a bar column, without a name.
    pub fn bar() -> Self {
        Head::new("", Kind::Bar)
    }

    /// Adds an explanation of the column.
    pub fn meaning(self, meaning: &'static str) -> Self {
        Head { meaning, ..self }
    }

    fn new(name: impl Into<String>, kind: Kind) -> Self {
        Head {
            name: name.into(),
            kind,
            meaning: "",
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

    /// Adds a row, which must have one cell for every column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// A table with one row for each item. `cells` returns the row's cells, one for every column.
    pub fn of<T, C: IntoIterator<Item = String>>(
        title: impl Into<String>,
        heads: impl IntoIterator<Item = Head>,
        items: impl IntoIterator<Item = T>,
        cells: impl FnMut(T) -> C,
    ) -> Self {
        let rows = items.into_iter().map(cells);
        Grid {
            rows: rows.map(|cells| cells.into_iter().collect()).collect(),
            ..Grid::new(title, heads)
        }
    }
}
