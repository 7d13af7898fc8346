//! Pages about runs: figures and tables that are computed from run directories, and the
//! renderers that turn them into one HTML file, SVG and PNG.
//!
//! The model ([`Report`], [`Figure`], [`Grid`]) knows neither HTML nor pixels; [`html`]
//! and [`still`] know nothing of replays and simulations.

use crate::ingest::runs::{Run, RunResult};

pub mod figure;
pub mod html;
pub mod still;
pub mod trials;

mod curves;
mod grid;
mod made;
mod names;
mod numbers;
mod replay;
mod simulate;
mod thin;
mod ticks;

pub use figure::Figure;
pub use grid::{Grid, Head};

/// A page.
#[derive(Debug, Clone)]
pub struct Report {
    /// What it is about.
    pub title: String,
    /// A sentence below the title.
    pub lead: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// Unique on the page; letters, digits and hyphens.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What to know before reading on; may be empty.
    pub lead: String,
    /// What it shows, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// A few figures that say most: what, how much, and a remark.
    Tiles(Vec<Tile>),
    /// A table.
    Grid(Grid),
    /// A table that is folded away until it is asked for.
    Folded(Grid),
    /// A figure.
    Figure(Box<Figure>),
}

impl Block {
    /// A figure as a piece of a section.
    pub fn figure(figure: Figure) -> Self {
        Block::Figure(Box::new(figure))
    }
}

/// A number that says much.
#[derive(Debug, Clone)]
pub struct Tile {
    /// What it is.
    pub name: String,
    /// With its unit.
    pub value: String,
    /// What to compare it with; may be empty.
    pub remark: String,
}

impl Report {
    /// The page about `runs`: replays together, and simulations together.
    pub fn new(runs: &[Run]) -> Self {
        let names = names::of(runs);
        let (mut replays, mut simulations) = (Vec::new(), Vec::new());
        for (run, name) in runs.iter().zip(&names) {
            match &run.result {
                RunResult::Replay(result) => replays.push(replay::Named { name, result }),
                RunResult::Simulate(result) => simulations.push(simulate::Named { name, result }),
            }
        }
        let mut sections = replay::sections(&replays);
        sections.extend(simulate::sections(&simulations));
        sections.push(made::section(runs, &names));
        Report {
            title: title(&names, replays.len(), simulations.len()),
            lead: lead(replays.len(), simulations.len()),
            sections,
        }
    }

    /// All figures, in order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Figure(figure) => Some(figure.as_ref()),
            _ => None,
        })
    }
}

fn title(names: &[String], replays: usize, simulations: usize) -> String {
    match (names, replays, simulations) {
        ([name], 1, _) => format!("Replay {name}"),
        ([name], _, 1) => format!("Simulation {name}"),
        (names, _, 0) => format!("{} replays", names.len()),
        (names, 0, _) => format!("{} simulations", names.len()),
        (names, ..) => format!("{} runs", names.len()),
    }
}

fn lead(replays: usize, simulations: usize) -> String {
    let replayed = "What training harvested from nodes that no queued job could use.";
    let simulated = "How scheduling policies compare on a trace of a GPU cluster.";
    match (replays, simulations) {
        (_, 0) => replayed.to_owned(),
        (0, _) => simulated.to_owned(),
        _ => format!("{replayed} {simulated}"),
    }
}
