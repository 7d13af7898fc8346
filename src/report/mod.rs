//! Pages about runs: figures and tables that are computed from run directories, and the
//! renderers that turn them into one HTML file, SVG and PNG.
//!
//! The model ([`Report`], [`Figure`], [`Grid`]) knows neither HTML nor pixels; [`html`]
//! and [`still`] know nothing of replays, simulations and sweeps.

use crate::error::Result;
use crate::ingest::runs::{Run, RunInfo, RunResult};
use crate::inspect::Inspection;
use crate::models::explanation::{Explanation, LabelledEbm};
use crate::words::counted;

pub mod figure;
pub mod html;
pub mod still;

mod curves;
mod explain;
mod fragments;
mod grid;
mod inspect;
mod lengths;
mod made;
mod names;
mod numbers;
mod replay;
mod simulate;
mod sweep;
mod thin;
mod ticks;

pub use figure::Figure;
pub use grid::{Grid, Head};
pub use sweep::SweepChoice;

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
    /// A sentence or two.
    Note(String),
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
    /// The page about `runs`: replays together, simulations together, and sweeps, of which
    /// `choice` says what to draw.
    ///
    /// # Errors
    /// Something of a sweep was chosen that it has not.
    pub fn new(runs: &[Run], choice: &SweepChoice) -> Result<Self> {
        let names = names::of(runs);
        let (mut replays, mut simulations, mut sweeps) = (Vec::new(), Vec::new(), Vec::new());
        for (run, name) in runs.iter().zip(&names) {
            match &run.result {
                RunResult::Replay(result) => replays.push(replay::Named { name, result }),
                RunResult::Simulate(result) => simulations.push(simulate::Named { name, result }),
                RunResult::Sweep(result) => sweeps.push(sweep::Named { name, result }),
            }
        }
        let mut sections = replay::sections(&replays);
        sections.extend(simulate::sections(&simulations));
        sections.extend(sweep::sections(&sweeps, choice)?);
        let infos = runs.iter().map(|run| &run.info).zip(&names);
        sections.push(made::section(infos));
        let counts = [replays.len(), simulations.len(), sweeps.len()];
        Ok(Report {
            title: title(&names, counts),
            lead: lead(counts),
            sections,
        })
    }

    /// The page about an inspected event log, which `info` says how it was made.
    pub fn of_inspection(inspection: &Inspection, info: &RunInfo) -> Self {
        let name = names::of_path(&info.path);
        let mut sections = inspect::sections(inspection);
        sections.push(made::section(std::iter::once((info, &name))));
        Report {
            title: format!("Event log {name}"),
            lead: "Which nodes no queued job could use, for how long, and when.".to_owned(),
            sections,
        }
    }

    /// The page about a trained model, which `info` says how it was made; terms are those of
    /// `machine`, where it is not a tree.
    pub fn of_model(told: &Explanation, machine: Option<&LabelledEbm<'_>>, info: &RunInfo) -> Self {
        let name = names::of_path(&info.path);
        let mut sections = explain::sections(told, machine);
        sections.push(made::section(std::iter::once((info, &name))));
        Report {
            title: format!("Model {name}"),
            lead: format!(
                "What a trained {} model goes by, and what each feature does to its predictions.",
                told.kind
            ),
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

/// What there may be on a page: one, several, and what they tell.
const KINDS: [(&str, &str, &str); 3] = [
    (
        "Replay",
        "replays",
        "What training harvested from nodes that no queued job could use.",
    ),
    (
        "Simulation",
        "simulations",
        "How scheduling policies compare on a trace of a GPU cluster.",
    ),
    (
        "Sweep",
        "sweeps",
        "Which settings are best, and what they cost.",
    ),
];

fn title(names: &[String], counts: [usize; 3]) -> String {
    let mut kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    match (names, kinds.next(), kinds.next()) {
        ([name], Some((kind, _)), _) => format!("{} {name}", kind.0),
        (names, Some((kind, _)), None) => format!("{} {}", names.len(), kind.1),
        (names, ..) => counted(names.len(), "run"),
    }
}

fn lead(counts: [usize; 3]) -> String {
    let kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    kinds.map(|(kind, _)| kind.2).collect::<Vec<_>>().join(" ")
}
