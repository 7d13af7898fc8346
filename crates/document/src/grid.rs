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
    /// What its cells are.
    pub kind: Kind,
    /// One-line explanation of the column; may be empty.
    pub meaning: &'static str,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts, aligned to the left.
    Text,
    /// Numbers, aligned to the right.
    Number,
    /// Bars of characters. A page omits the column, because it draws the figure.
    Bar,
}

impl Head {
    /// The head of a column of texts.
    pub fn text(name: impl Into<String>) -> Self {
        Head::new(name, Kind::Text)
    }

    /// The head of a column of numbers.
    pub fn number(name: impl Into<String>) -> Self {
        Head::new(name, Kind::Number)
    }

    /// The head of a column of bars, which needs no name.
    pub fn bar() -> Self {
        Head::new("", Kind::Bar)
    }

    /// The head with an explanation of its column.
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

    /// Adds a row, with a text for every column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table with a row for each item, of which `cells` makes a text for every column.
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
