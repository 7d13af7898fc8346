//! Builds pages about runs, event logs and models, with figures of their results. Renders a document as one HTML file,
//! and figures as SVG and PNG. A page shows the facts and tables that a command prints, and adds figures.
//!
//! ```
//! use gleaner_report::figure::{Axis, Colour, Curve, Marks, Shape};
//! use gleaner_report::{Figure, Grid, image};
//!
//! let points = vec![(0.0, 3.0), (1.0, 5.0)];
//! let (name, colour, shape, labels) = ("Idle".into(), Colour::Series(0), Shape::Step, Vec::new());
//! let figure = Figure {
//!     id: "idle".into(), title: "Idle nodes".into(), text: String::new(), numbers: Grid::default(),
//!     x: Axis::linear("hours"), y: Axis::linear("nodes"),
//!     marks: Marks::Curves(vec![Curve { name, colour, shape, points, labels }]),
//! };
//! assert!(image::svg(&figure)?.starts_with("<svg"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::pilots::Pilots;
use gleaner_domain::results::reproduce::Artifact;
use gleaner_domain::words::counted;
use gleaner_inspect::{Fragments, Inspection};
use gleaner_predict::explanation::{Explanation, LabelledEbm};
use gleaner_runs::inspect::CostSource;
use gleaner_runs::read::{Run, RunInfo, RunResult};

pub mod html;
pub mod image;

mod compare;
mod curves;
mod explain;
mod fragments;
mod inspect;
mod lengths;
mod made;
mod names;
mod pilots;
mod replay;
mod reproduce;
mod simulate;
mod sweep;
mod thin;
mod ticks;

pub use gleaner_document::{Block, Document, Fact, Figure, Grid, Head, Section, figure, numbers};
pub use sweep::SweepChoice;

/// The page about `runs`. Replays are compared with each other, and so are simulations. Each sweep and each comparison
/// of solvers has a section. `choice` selects the metrics and settings of sweeps to draw.
///
/// # Errors
/// Returns an error if `choice` names a setting or metric that a sweep does not have. Also returns an error if `choice`
/// is not empty but none of the runs is a sweep. Returns [`Error::Stopped`] if the observer requests a stop.
pub fn of_runs(runs: &[Run], choice: &SweepChoice, observer: &dyn Observer) -> Result<Document> {
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
    let mut sections = replay::sections(&replays, observer)?;
    sections.extend(simulate::sections(&simulations, observer)?);
    sections.extend(sweep::sections(&sweeps, choice, observer)?);
    sections.extend(compare::sections(&comparisons, observer)?);
    let infos = runs.iter().map(|run| &run.info).zip(&names);
    sections.push(made::section(infos));
    let counts = [
        replays.len(),
        simulations.len(),
        sweeps.len(),
        comparisons.len(),
    ];
    Ok(Document {
        title: title(&names, counts),
        lead: lead(counts),
        sections,
    })
}

/// The page about an inspected event log. `info` describes the run that inspected the log. `source` is the source of
/// the rescale costs on which the suggested window is based.
pub fn of_inspection(inspection: &Inspection, source: CostSource, info: &RunInfo) -> Document {
    let name = names::of_path(&info.path);
    let mut sections = inspect::sections(inspection, source);
    sections.push(made::section(std::iter::once((info, &name))));
    Document {
        title: format!("Event log {name}"),
        lead: "Which nodes were idle, for how long, and when.".to_owned(),
        sections,
    }
}

/// The page about pilot jobs on the idle nodes of an event log. `info` describes the run that simulated the pilots.
pub fn of_pilots(pilots: &Pilots, fragments: &Fragments, info: &RunInfo) -> Document {
    let name = names::of_path(&info.path);
    let mut sections = pilots::sections(pilots, fragments);
    sections.push(made::section(std::iter::once((info, &name))));
    Document {
        title: format!("Pilots on {name}"),
        lead: "The idle node-time that pilot jobs would use, by wall times and by the model of the batch scheduler."
            .to_owned(),
        sections,
    }
}

/// The page about a trained model. `info` describes the run that explained the model. Figures of terms are
/// drawn for `machine`, if there is one.
pub fn of_model(told: &Explanation, machine: Option<&LabelledEbm<'_>>, info: &RunInfo) -> Document {
    let name = names::of_path(&info.path);
    let mut sections = explain::sections(told, machine);
    sections.push(made::section(std::iter::once((info, &name))));
    Document {
        title: format!("Model {name}"),
        lead: format!(
            "What a trained {} model depends on, and how each feature affects its predictions.",
            told.kind
        ),
        sections,
    }
}

/// The page that compares published values with Gleaner's. `info` describes the run that computed Gleaner's values.
pub fn of_reproduction(artifacts: &[Artifact], info: &RunInfo) -> Document {
    let name = names::of_path(&info.path);
    let mut sections = reproduce::sections(artifacts);
    sections.push(made::section(std::iter::once((info, &name))));
    Document {
        title: "Published values, reproduced".to_owned(),
        lead: "Tables and figures of published systems, recomputed and shown beside the published values."
            .to_owned(),
        sections,
    }
}

/// A kind of run on a page.
struct RunKind {
    singular: &'static str,
    plural: &'static str,
    /// One sentence about what runs of this kind show.
    lead: &'static str,
}

/// All kinds of runs that a page can show.
const KINDS: [RunKind; 4] = [
    RunKind {
        singular: "Replay",
        plural: "replays",
        lead: "The work that training would have done on idle nodes.",
    },
    RunKind {
        singular: "Simulation",
        plural: "simulations",
        lead: "A comparison of scheduling policies on a trace of a GPU cluster.",
    },
    RunKind {
        singular: "Sweep",
        plural: "sweeps",
        lead: "Which settings are best, and what they cost.",
    },
    RunKind {
        singular: "Comparison",
        plural: "comparisons",
        lead: "Which solvers find the best plans, and how fast.",
    },
];

fn title(names: &[String], counts: [usize; KINDS.len()]) -> String {
    let mut kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    match (names, kinds.next(), kinds.next()) {
        ([name], Some((kind, _)), _) => format!("{} {name}", kind.singular),
        (names, Some((kind, _)), None) => format!("{} {}", names.len(), kind.plural),
        (names, ..) => counted(names.len(), "run"),
    }
}

fn lead(counts: [usize; KINDS.len()]) -> String {
    let kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    kinds
        .map(|(kind, _)| kind.lead)
        .collect::<Vec<_>>()
        .join(" ")
}
