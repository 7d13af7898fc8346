//! The sections of a page about replays.

use super::figure::Colour;
use super::names::slug;
use super::{Block, Section};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_runs::read::ReplayRun;

mod classes;
mod completion;
mod fragments;
mod holds;
mod nodes;
mod rate;
mod search;
mod spent;
mod summary;
mod tasks;

/// A replay with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a ReplayRun,
}

/// The sections about `runs`. If there are several runs, they are compared, and changes are relative to the first.
///
/// # Errors
/// Returns [`Error::Stopped`](gleaner_domain::Error::Stopped) if the observer requests a stop.
pub(super) fn sections(runs: &[Named<'_>], observer: &dyn Observer) -> Result<Vec<Section>> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    check_stop(observer)?;
    let mut sections = vec![together(runs)];
    sections.extend(search::section(runs));
    if let [run] = runs {
        check_stop(observer)?;
        sections[0].blocks.extend(alone(run));
        return Ok(sections);
    }
    for (place, run) in runs.iter().enumerate() {
        check_stop(observer)?;
        sections.push(Section {
            id: format!("replay-{}-{}", place + 1, slug(run.name)),
            title: format!("Replay {}", run.name),
            lead: String::new(),
            blocks: if same_log(runs) {
                alone(run)
            } else {
                [vec![fragments::block(run)], alone(run)].concat()
            },
        });
    }
    Ok(sections)
}

fn together(runs: &[Named<'_>]) -> Section {
    let mut blocks = vec![
        summary::block(runs),
        Block::figure(nodes::figure(runs)),
        Block::figure(spent::figure(runs)),
        Block::figure(rate::figure(runs)),
        Block::figure(completion::figure(runs)),
    ];
    if same_log(runs) {
        blocks.push(fragments::block(&runs[0]));
    }
    if runs.len() > 1 {
        blocks.push(Block::Folded(summary::explained()));
    }
    Section {
        id: "replay".to_owned(),
        title: match runs {
            [_] => "Idle nodes and how training used them".to_owned(),
            _ => "Replays side by side".to_owned(),
        },
        lead: summary::lead(runs),
        blocks,
    }
}

/// The figures that are shown for each replay separately.
fn alone(run: &Named<'_>) -> Vec<Block> {
    let mut blocks = classes::blocks(run);
    blocks.push(Block::figure(tasks::figure(run)));
    blocks.push(Block::figure(holds::figure(run)));
    blocks
}

/// Whether all runs have the same idle fragments, which is the case if they replayed the same log.
fn same_log(runs: &[Named<'_>]) -> bool {
    let mut pairs = runs.windows(2);
    pairs.all(|pair| pair[0].result.fragments == pair[1].result.fragments)
}

/// A curve's name and colour: the run's name and colour if several runs are compared, or else `single` and the
/// first colour.
fn identity(runs: &[Named<'_>], place: usize, single: &str) -> (String, Colour) {
    match runs {
        [_] => (single.to_owned(), Colour::Series(0)),
        runs => (runs[place].name.to_owned(), Colour::Series(place)),
    }
}

/// A figure's identifier: its kind and the run's name.
fn id_of(kind: &str, run: &Named<'_>) -> String {
    format!("{kind}-{}", slug(run.name))
}
