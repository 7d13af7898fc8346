//! Suspicious spans, and nodes whose state never changes.

use crate::names::short;
use crate::numbers::count;
use crate::{Block, Grid, Head};
use gleaner_inspect::{Inspection, UnchangedNodes};
use gleaner_runs::inspect as told;

/// Maximum number of suspicious spans listed.
const SPANS: usize = 200;
/// If there are more suspicious spans than this, their table is folded.
const FOLDED: usize = 12;
/// Maximum number of nodes listed.
const NODES: usize = 500;

/// The longest suspicious spans, ordered by time. A long table is folded.
pub(super) fn suspicions(log: &Inspection) -> Block {
    match told::suspicions(log, SPANS) {
        Block::Grid(grid) if grid.rows.len() > FOLDED => Block::Folded(grid),
        block => block,
    }
}

/// The nodes that are never idle, and those that are always idle.
pub(super) fn nodes(log: &Inspection) -> Vec<Block> {
    let never = unchanged("never idle", &log.never_idle);
    [never, unchanged("always idle", &log.always_idle)].into()
}

fn unchanged(what: &str, nodes: &UnchangedNodes) -> Block {
    let title = match nodes.count {
        0 => return Block::Note(format!("Nodes that are {what}: none.")),
        all @ 1..=NODES => format!("Nodes that are {what} ({all})"),
        all => format!(
            "Nodes that are {what}: the first {NODES} of {}",
            count(all as u64)
        ),
    };
    let mut grid = Grid::new(title, [Head::text("node")]);
    for name in nodes.names.iter().take(NODES) {
        grid.row([short(name)]);
    }
    Block::Folded(grid)
}
