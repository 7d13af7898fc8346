//! Pages about runs: figures and tables that are computed from run directories, and the
//! renderers that turn them into one HTML file, SVG and PNG.
//!
//! The model ([`Report`], [`Figure`], [`Grid`]) does not depend on HTML or pixels. [`html`] and
//! [`still`] do not depend on replays, simulations or sweeps.

use gleaner_core::error::{Error, Result};
use gleaner_core::results::reproduce::Artifact;
use gleaner_core::words::counted;
use gleaner_inspect::Inspection;
use gleaner_predict::explanation::{Explanation, LabelledEbm};
use gleaner_runs::read::{Run, RunInfo, RunResult};

pub mod figure;
pub mod html;
pub mod still;

mod compare;
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
mod reproduce;
mod simulate;
mod sweep;
mod thin;
mod ticks;

pub use figure::Figure;
pub use grid::{Grid, Head};
pub use sweep::SweepChoice;

/// A page about runs, an event log or a model.
#[derive(Debug, Clone)]
pub struct Report {
    /// The title: what the page is about.
    pub title: String,
    /// A sentence below the title.
    pub lead: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// Identifier, unique on the page: letters, digits and hyphens.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Text below the heading: what to know before reading on; may be empty.
    pub lead: String,
    /// The contents, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone)]
pub enum Block {
    /// The most important figures, each with its name, value and a remark.
    Tiles(Vec<Tile>),
    /// A table that is always shown.
    Grid(Grid),
    /// A table that is folded until the reader opens it.
    Folded(Grid),
    /// A figure, with a folded table of its numbers.
    Figure(Box<Figure>),
    /// A paragraph of text.
    Note(String),
}

impl Block {
    /// A figure as a piece of a section.
    pub fn figure(figure: Figure) -> Self {
        Block::Figure(Box::new(figure))
    }
}

/// One of the most important figures of a section.
#[derive(Debug, Clone)]
pub struct Tile {
    /// Name of the figure.
    pub name: String,
    /// Value with its unit.
    pub value: String,
    /// A remark, such as what to compare the value with; may be empty.
    pub remark: String,
}

impl Report {
    /// The page about `runs`. Replays are compared with each other, and so are simulations. Sweeps and
    /// comparisons of solvers have a section each.
    /// `choice` says what to draw of sweeps.
    ///
    /// # Errors
    /// `choice` names a setting or figure that a sweep does not have, or none of the runs is a sweep.
    pub fn new(runs: &[Run], choice: &SweepChoice) -> Result<Self> {
        let names = names::of(runs);
        let (mut replays, mut simulations) = (Vec::new(), Vec::new());
        let (mut sweeps, mut comparisons) = (Vec::new(), Vec::new());
        for (run, name) in runs.iter().zip(&names) {
            match &run.result {
                RunResult::Replay(result) => replays.push(replay::Named { name, result }),
                RunResult::Simulate(result) => simulations.push(simulate::Named { name, result }),
                RunResult::Sweep(result) => sweeps.push(sweep::Named { name, result }),
                RunResult::Compare(result) => comparisons.push(compare::Named { name, result }),
            }
        }
        if !choice.is_empty() && sweeps.is_empty() {
            return Err(Error::Usage(
                "--heat, --metric and --against apply only to sweeps; none of the runs is a sweep"
                    .into(),
            ));
        }
        let mut sections = replay::sections(&replays);
        sections.extend(simulate::sections(&simulations));
        sections.extend(sweep::sections(&sweeps, choice)?);
        sections.extend(compare::sections(&comparisons));
        let infos = runs.iter().map(|run| &run.info).zip(&names);
        sections.push(made::section(infos));
        let counts = [
            replays.len(),
            simulations.len(),
            sweeps.len(),
            comparisons.len(),
        ];
        Ok(Report {
            title: title(&names, counts),
            lead: lead(counts),
            sections,
        })
    }

    /// The page about an inspected event log. `info` says how the inspection was made.
    pub fn of_inspection(inspection: &Inspection, info: &RunInfo) -> Self {
        let name = names::of_path(&info.path);
        let mut sections = inspect::sections(inspection);
        sections.push(made::section(std::iter::once((info, &name))));
        Report {
            title: format!("Event log {name}"),
            lead: "Which nodes were idle, for how long, and when.".to_owned(),
            sections,
        }
    }

    /// The page about a trained model. `info` says how the explanation was made. The terms drawn
    /// are those of `machine`, if the model is not a tree.
    pub fn of_model(told: &Explanation, machine: Option<&LabelledEbm<'_>>, info: &RunInfo) -> Self {
        let name = names::of_path(&info.path);
        let mut sections = explain::sections(told, machine);
        sections.push(made::section(std::iter::once((info, &name))));
        Report {
            title: format!("Model {name}"),
            lead: format!(
                "What a trained {} model depends on, and what each feature does to its predictions.",
                told.kind
            ),
            sections,
        }
    }

    /// The page about published values and ours. `info` says how they were made.
    pub fn of_reproduction(artifacts: &[Artifact], info: &RunInfo) -> Self {
        let name = names::of_path(&info.path);
        let mut sections = reproduce::sections(artifacts);
        sections.push(made::section(std::iter::once((info, &name))));
        Report {
            title: "Published values, made again".to_owned(),
            lead: "Tables and figures of published systems, computed anew and set beside the \
                   published values."
                .to_owned(),
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

/// The kinds of runs on a page: the name of one, the name of several, and what they show.
const KINDS: [(&str, &str, &str); 4] = [
    (
        "Replay",
        "replays",
        "How much work training would have done on idle nodes.",
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
    (
        "Comparison",
        "comparisons",
        "Which solvers find the best plans, and how soon.",
    ),
];

fn title(names: &[String], counts: [usize; KINDS.len()]) -> String {
    let mut kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    match (names, kinds.next(), kinds.next()) {
        ([name], Some((kind, _)), _) => format!("{} {name}", kind.0),
        (names, Some((kind, _)), None) => format!("{} {}", names.len(), kind.1),
        (names, ..) => counted(names.len(), "run"),
    }
}

fn lead(counts: [usize; KINDS.len()]) -> String {
    let kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    kinds.map(|(kind, _)| kind.2).collect::<Vec<_>>().join(" ")
}
