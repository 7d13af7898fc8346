//! Reads classes from a table with the columns `node` and `class`, as CSV or Parquet. Other columns are ignored.
//!
//! ```csv
//! node,class
//! a001,a100
//! g01,v100
//! ```

use super::assignment::Assignment;
use crate::rows::{InputColumn, InputRow, Rows, Text, input};
use gleaner_domain::error::Result;
use gleaner_io::source::Source;

input! {
    /// The class of a node.
    pub(super) struct ClassRow {
        /// the name of a node
        node: String as Text = "node" [""],
        /// the name of the node's class
        class: String as Text = "class" [""],
    }
}

/// The columns of the table.
pub(super) fn columns() -> Vec<InputColumn> {
    ClassRow::columns()
}

/// Whether a line is the header of a CSV table of classes.
pub(super) fn is_header(line: &str) -> bool {
    let has = |name: &str| {
        line.split(',')
            .any(|cell| cell.trim().trim_matches('"') == name)
    };
    has("node") && has("class")
}

/// Reads the rows. Returns the remedy that a message about nodes without a class suggests.
pub(super) fn read(source: &Source, assignment: &mut Assignment<'_>) -> Result<String> {
    let rows = Rows::<ClassRow>::open(source)?;
    rows.visit(
        |line| match line.and_then(|line| Ok((line.read()?, line.place()))) {
            Err(fault) => assignment.add(*fault),
            Ok((ClassRow { node, class }, place)) => {
                let class = assignment.class(&class, place)?;
                assignment.node(class, &node);
                Ok(())
            }
        },
    )?;
    Ok("add a row for each node without a class".to_owned())
}
