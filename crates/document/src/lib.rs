//! Documents, which present the results of a command in the terminal and on report pages. A document consists of
//! sections with facts, tables, notes and figures. The types are independent of markup. [`text`] renders the elements
//! of a section for a terminal; the crate `gleaner-report` renders documents as HTML and as images.
//!
//! ```
//! use gleaner_document::{Block, Fact, Grid, Head, text};
//!
//! let mut tasks = Grid::new("Tasks", [Head::text("task"), Head::number("nodes")]);
//! tasks.row(["a".to_owned(), "12".to_owned()]);
//! let facts = vec![Fact::new("nodes", "100"), Fact::new("idle", "8.8 %").remark("of the time")];
//! let expected = "nodes  100\nidle   8.8 % of the time\n\nTasks\ntask  nodes\na        12\n";
//! assert_eq!(text(&[Block::Facts(facts), Block::Grid(tasks)]), expected);
//! ```

pub mod figure;
pub mod names;
pub mod numbers;

mod fact;
mod grid;
mod text;

pub use fact::{Fact, indented};
pub use figure::Figure;
pub use grid::{Grid, Head, Kind};
pub use text::text;

/// A report on runs, an event log or a model.
#[derive(Debug, Clone)]
pub struct Document {
    /// The title, which states the subject of the document.
    pub title: String,
    /// A sentence below the title.
    pub lead: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub struct Section {
    /// Identifier, unique in the document: letters, digits and hyphens.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Text below the heading that introduces the section; may be empty.
    pub lead: String,
    /// The facts, tables, figures and paragraphs of the section, in order.
    pub blocks: Vec<Block>,
}

/// An element of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// Facts, each with a label and a value.
    Facts(Vec<Fact>),
    /// A table that is always shown.
    Grid(Grid),
    /// A table that a page shows collapsed until the reader expands it. [`text()`] omits folded tables.
    Folded(Grid),
    /// A figure, with a folded table of its numbers. [`text()`] omits figures.
    Figure(Box<Figure>),
    /// A paragraph of text.
    Note(String),
}

impl Block {
    /// Wraps a figure as a block.
    pub fn figure(figure: Figure) -> Self {
        Block::Figure(Box::new(figure))
    }
}

impl Document {
    /// All figures, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Figure(figure) => Some(figure.as_ref()),
            _ => None,
        })
    }
}
