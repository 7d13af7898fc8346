//! Idle node-time by class of nodes.

use gleaner_document::numbers::{count, hours, number, percent};
use gleaner_document::{Grid, Head};
use gleaner_domain::words::duration;
use gleaner_inspect::Inspection;

/// A table with a row for each class of nodes. `None` if all nodes are of one class.
pub fn by_class(i: &Inspection) -> Option<Grid> {
    let heads = [
        Head::text("class"),
        Head::number("nodes"),
        Head::number("idle node-hours"),
        Head::number("share idle").meaning("share of the class's node-time that is idle"),
        Head::number("of all idle time")
            .meaning("the class's share of the idle node-time of all nodes"),
        Head::number("idle nodes, mean"),
        Head::number("fragments"),
        Head::number("median fragment"),
    ];
    let grid = Grid::of("Idle node-time by class", heads, &i.classes, |class| {
        [
            class.name.clone(),
            count(class.nodes),
            hours(class.idle_node_seconds),
            percent(class.idle_share),
            percent(class.share_of_idle),
            number(class.idle_nodes_mean),
            count(class.fragments),
            class.median_fragment_s.map_or("none".to_owned(), duration),
        ]
    });
    (!grid.rows.is_empty()).then_some(grid)
}
