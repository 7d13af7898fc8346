//! A tree as a table of its nodes.

use crate::{Grid, Head};
use gleaner_predict::explanation::TreeFacts;

/// A row for each node, indented further than its parent.
pub(super) fn grid(facts: &TreeFacts) -> Grid {
    let heads = [Head::text(
        "node: rows (by sharing score 0, 1, 2) -> the score it gives",
    )];
    let mut grid = Grid::new("The tree", heads);
    for line in facts.text.lines() {
        let node = line.trim_start();
        // Browsers keep a space of this width; they collapse ordinary ones.
        let indent = "\u{2003}".repeat((line.len() - node.len()) / 2);
        grid.row([format!("{indent}{node}")]);
    }
    grid
}
