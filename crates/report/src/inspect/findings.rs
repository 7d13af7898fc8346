//! Suspicious spans, and nodes that never change.

use crate::names::short;
use crate::numbers::count;
use crate::{Block, Grid, Head};
use gleaner_core::words::duration;
use gleaner_inspect::{Inspection, Suspicion, SuspicionKind, UnchangedNodes};

/// Maximum number of suspicious spans listed.
const SPANS: usize = 200;
/// Maximum number of nodes listed.
const NODES: usize = 500;

/// A table of the longest suspicious spans, ordered by time.
pub(super) fn suspicions(log: &Inspection) -> Vec<Block> {
    let found = &log.suspicions;
    if found.is_empty() {
        return vec![Block::Note("Suspicious spans: none.".to_owned())];
    }
    let mut longest: Vec<usize> = (0..found.len()).collect();
    longest.sort_by(|&a, &b| found[b].seconds.total_cmp(&found[a].seconds));
    longest.truncate(SPANS);
    longest.sort_unstable();
    let title = match found.len() {
        all @ 0..=SPANS => format!("Suspicious spans ({all})"),
        all => format!(
            "Suspicious spans: the {SPANS} longest of {}",
            count(all as u64)
        ),
    };
    let heads = [Head::text("what"), Head::text("from"), Head::text("to")];
    let heads = heads
        .into_iter()
        .chain(["length", "rows"].map(Head::number));
    let mut grid = Grid::new(title, heads);
    for place in longest {
        grid.row(row(&found[place]));
    }
    vec![match grid.rows.len() {
        0..=12 => Block::Grid(grid),
        _ => Block::Folded(grid),
    }]
}

fn row(found: &Suspicion) -> [String; 5] {
    let what = match found.kind {
        SuspicionKind::LogGap => "no event",
        SuspicionKind::AllIdle => "every node idle",
        SuspicionKind::AllBusy => "every node busy",
        SuspicionKind::RepeatedTime => "repeated time",
    };
    [
        what.to_owned(),
        found.from.clone(),
        found.to.clone(),
        duration(found.seconds),
        count(found.rows as u64),
    ]
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
