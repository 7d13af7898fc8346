//! The idle fragments of the replayed log.

use super::{Named, id_of};
use crate::{Block, fragments};
use gleaner_domain::results::replay::FragmentRow;
use gleaner_runs::lengths::{Class, Lengths};

/// The note for a run made by an earlier version, which did not write `fragments.parquet`.
const MISSING: &str = "The histogram of idle fragments is missing: this run directory has no \
                       fragments.parquet. Replay the log again with this version to get it.";

/// The histogram, or a note if the run has no table of fragments.
pub(super) fn block(run: &Named<'_>) -> Block {
    match &run.result.fragments {
        None => Block::Note(MISSING.to_owned()),
        Some(classes) => {
            let lengths = Lengths::of_fragments(classes.iter().map(class).collect());
            let mut figure = fragments::figure(id_of("fragments", run), &lengths);
            figure.title = "Idle fragments of the whole log by length".to_owned();
            Block::figure(figure)
        }
    }
}

fn class(class: &FragmentRow) -> Class {
    Class {
        from: class.from_s,
        to: class.to_s,
        count: class.fragments,
        seconds: class.node_seconds,
    }
}
