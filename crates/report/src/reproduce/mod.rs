//! The sections of a page that compares published values with Gleaner's.

use super::{Block, Grid, Section};
use gleaner_domain::results::Named;
use gleaner_domain::results::reproduce::{Artifact, System};
use gleaner_runs::reproduce::{counts, grid, source, verdicts};

mod figure;

/// The sections: an overview of the verdicts, then a section for each system.
pub(super) fn sections(artifacts: &[Artifact]) -> Vec<Section> {
    let mut sections = vec![overview(artifacts)];
    let systems = System::ALL.iter();
    sections.extend(systems.filter_map(|system| section(*system, artifacts)));
    sections
}

/// The section that counts the verdicts.
fn overview(artifacts: &[Artifact]) -> Section {
    Section {
        id: "verdicts".to_owned(),
        title: "Verdicts".to_owned(),
        lead: "Number of values by verdict. Equal: our value, rounded to the published number of decimals, \
               equals the published value. Simulations, replays and optima are deterministic. Trained models are \
               random: the last digits of their values vary from run to run. A reference run is a run of \
               the authors' code, or of another program that the source names."
            .to_owned(),
        blocks: vec![
            Block::Facts(verdicts(artifacts)),
            Block::Grid(shown(counts(artifacts))),
        ],
    }
}

/// The section of a system; `None` if no artifact of the system was computed.
fn section(system: System, artifacts: &[Artifact]) -> Option<Section> {
    let own: Vec<_> = artifacts
        .iter()
        .filter(|artifact| artifact.system == system)
        .collect();
    (!own.is_empty()).then(|| Section {
        id: system.name().to_owned(),
        title: system.title().to_owned(),
        lead: String::new(),
        blocks: own.into_iter().flat_map(blocks).collect(),
    })
}

/// The blocks of an artifact: a figure with its table or, for an artifact without a figure, a table and a note.
fn blocks(artifact: &Artifact) -> Vec<Block> {
    let numbers = shown(grid(artifact));
    let text = format!("{} {}", artifact.text, source(artifact));
    match figure::figure(artifact, text.clone(), numbers.clone()) {
        Some(figure) => vec![Block::figure(figure)],
        None => vec![Block::Grid(numbers), Block::Note(text)],
    }
}

/// The table as shown on a page, where a number and its percent sign stay on one line.
fn shown(mut grid: Grid) -> Grid {
    for cell in grid.rows.iter_mut().flatten() {
        *cell = cell.replace(" %", "\u{a0}%");
    }
    grid
}
