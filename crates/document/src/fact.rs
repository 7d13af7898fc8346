//! Facts: labelled values.

use super::{Grid, Head};

/// A label with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The name of the value.
    pub label: String,
    /// The value with its unit.
    pub value: String,
    /// Text that follows the value, such as another value for comparison; may be empty.
    pub remark: String,
    /// One-line explanation of the label; may be empty.
    pub meaning: &'static str,
    /// Indentation level, from 0. A fact of depth n + 1 is part of the nearest fact of depth n above it.
    pub depth: usize,
    /// Whether this is a key fact, which a page shows as a tile.
    pub is_main: bool,
}

impl Fact {
    /// A fact without a remark or an explanation.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Fact {
            label: label.into(),
            value: value.into(),
            remark: String::new(),
            meaning: "",
            depth: 0,
            is_main: false,
        }
    }

    /// A key fact, which a page shows as a tile.
    pub fn main(label: impl Into<String>, value: impl Into<String>) -> Self {
        Fact {
            is_main: true,
            ..Fact::new(label, value)
        }
    }

    /// Adds a remark, which is shown after the value.
    pub fn remark(self, remark: impl Into<String>) -> Self {
        Fact {
            remark: remark.into(),
            ..self
        }
    }

    /// The value and the remark.
    pub fn told(&self) -> String {
        if self.remark.is_empty() {
            self.value.clone()
        } else {
            format!("{} {}", self.value, self.remark)
        }
    }

    /// A table of facts with their explanations.
    pub fn grid(title: impl Into<String>, facts: &[Fact]) -> Grid {
        let has_meanings = facts.iter().any(|fact| !fact.meaning.is_empty());
        let mut heads = vec![Head::text("figure"), Head::text("value")];
        heads.extend(has_meanings.then(|| Head::text("meaning")));
        let mut grid = Grid::new(title, heads);
        for fact in facts {
            let meaning = has_meanings.then(|| fact.meaning.to_owned());
            let cells = [indented(&fact.label, fact.depth), fact.told()];
            grid.row(cells.into_iter().chain(meaning));
        }
        grid
    }
}

/// A label, indented by two spaces per level.
pub fn indented(label: &str, depth: usize) -> String {
    "  ".repeat(depth) + label
}
