//! A mixed-integer linear program as plain data: formulations build it, backends solve it, and
//! [`export`](crate::formulations::export) writes it to files.

/// A decision variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name in exported files: letters, digits, `_`.
    pub name: String,
    /// Lower bound.
    pub lower: f64,
    /// Upper bound (may be infinite).
    pub upper: f64,
    /// Whether only whole numbers are allowed.
    pub integer: bool,
    /// Coefficient in the objective, which is maximised.
    pub objective: f64,
}

/// A linear row: lower ≤ Σ coefficient · column ≤ upper.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name in exported files: letters, digits, `_`.
    pub name: String,
    /// Column indices and their coefficients. Each column occurs at most once.
    pub terms: Vec<(usize, f64)>,
    /// Lower bound (may be −infinite).
    pub lower: f64,
    /// Upper bound (may be infinite).
    pub upper: f64,
}

/// A program: maximise Σ objective · column within the bounds of the columns and the rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// Name in exported files.
    pub name: String,
    /// Decision variables.
    pub columns: Vec<Column>,
    /// Constraints.
    pub rows: Vec<Row>,
}

impl Model {
    /// Adds a column and returns its index.
    pub fn add_column(&mut self, column: Column) -> usize {
        self.columns.push(column);
        self.columns.len() - 1
    }

    /// Adds a 0/1 column and returns its index.
    pub fn add_binary(&mut self, name: String, objective: f64) -> usize {
        self.add_column(Column {
            name,
            lower: 0.0,
            upper: 1.0,
            integer: true,
            objective,
        })
    }

    /// Adds a row.
    pub fn add_row(&mut self, name: String, terms: Vec<(usize, f64)>, lower: f64, upper: f64) {
        self.rows.push(Row {
            name,
            terms,
            lower,
            upper,
        });
    }
}
