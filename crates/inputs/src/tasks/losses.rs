//! Reads the losses of a search: their names, and their learning curves.
//!
//! A search that does not name its losses has one loss, and `curves` is the source of its learning curves. If the
//! losses have names, `curves` is a table with a source for each loss:
//!
//! ```toml
//! losses = ["error", "latency"]
//! curves = { error = "error.csv", latency = { noise = 0 } }
//! ```
//!
//! A source is the name of a file of measured learning curves, or a table of the parameters of a family of curves. By
//! default, the source is the family with its default parameters.

use std::path::{Path, PathBuf};

use gleaner_search::{Family, LearningCurves};

use super::fields::Report;
use super::node::Node;
use crate::learning_curves;
use gleaner_domain::TrialLoss;
use gleaner_domain::error::Result;
use gleaner_io::SourceId;

/// A loss as described in the task file.
pub(super) struct LossDraft {
    name: String,
    curves: CurvesDraft,
}

/// The source of the learning curves of a loss.
enum CurvesDraft {
    Family(Family),
    File(PathBuf),
}

impl LossDraft {
    /// Reads the file of learning curves, if there is one, and adds it to `sources`. Also returns the names of the
    /// tasks that the trials train, or no names if the file does not contain them.
    pub fn load(self, sources: &mut Vec<SourceId>) -> Result<(TrialLoss, Vec<String>)> {
        let (curves, tasks) = match self.curves {
            CurvesDraft::Family(family) => (LearningCurves::Family(family), Vec::new()),
            CurvesDraft::File(file) => {
                let loaded = learning_curves::read(&file)?;
                sources.extend(loaded.sources);
                (
                    LearningCurves::Table(loaded.value.table),
                    loaded.value.tasks,
                )
            }
        };
        let name = self.name;
        Ok((TrialLoss { name, curves }, tasks))
    }
}

/// Reads the fields `losses` and `curves`, and adds faults to the report. The number of losses and their names are
/// checked later, with the rest of the search.
pub(super) fn read(
    names: Option<Node>,
    curves: Option<Node>,
    path: &Path,
    report: &mut Report<'_>,
) -> Vec<LossDraft> {
    let Some(names) = names else {
        let curves = source("curves", curves, path, report);
        let name = "loss".to_owned();
        return vec![LossDraft { name, curves }];
    };
    let Some(names) = self::names(names, report) else {
        return Vec::new();
    };
    let mut sources = sources(curves, &names, report);
    let mut draft = |name: String| {
        let place = sources.iter().position(|(loss, _)| *loss == name);
        let node = place.map(|place| sources.swap_remove(place).1);
        let curves = source(&format!("curves.{name}"), node, path, report);
        LossDraft { name, curves }
    };
    names.into_iter().map(&mut draft).collect()
}

/// Reads the names of the losses.
fn names(node: Node, report: &mut Report<'_>) -> Option<Vec<String>> {
    let found = node.to_string();
    let text = |node| match node {
        Node::Text(name) => Some(name),
        _ => None,
    };
    let names = match node {
        Node::List(nodes) => nodes.into_iter().map(text).collect(),
        _ => None,
    };
    if names.is_none() {
        report.add("losses", found, NAMES);
    }
    names
}

/// The expected content of the field `losses`.
const NAMES: &str = "a list of names, such as [\"error\", \"latency\"]";

/// Reads the sources of the learning curves of several losses, by the names of the losses.
fn sources(node: Option<Node>, names: &[String], report: &mut Report<'_>) -> Vec<(String, Node)> {
    let sources = match node {
        None => return Vec::new(),
        Some(Node::Table(sources)) => sources,
        Some(other) => {
            let expected = format!("a table with the entries {}", names.join(", "));
            report.add("curves", other.to_string(), expected);
            return Vec::new();
        }
    };
    let (known, unknown): (Vec<_>, Vec<_>) = sources
        .into_iter()
        .partition(|(name, _)| names.contains(name));
    for (name, _) in unknown {
        let expected = format!("only entries for the losses {}", names.join(", "));
        report.add("curves", format!("an entry {name:?}"), expected);
    }
    known
}

/// Reads the source of the learning curves of one loss. `field` is the name of the field in messages.
fn source(field: &str, node: Option<Node>, path: &Path, report: &mut Report<'_>) -> CurvesDraft {
    let family = match node {
        None => Family::default(),
        Some(Node::Text(name)) => {
            let folder = path.parent().unwrap_or(Path::new(""));
            return CurvesDraft::File(folder.join(name));
        }
        Some(table @ Node::Table(_)) => {
            serde_json::from_value(table.into_json()).unwrap_or_else(|error| {
                let expected = "the parameters described in docs/SEARCHES.md";
                report.add(field, error.to_string(), expected);
                Family::default()
            })
        }
        Some(other) => {
            let expected =
                "the name of a file of learning curves, or a table of a family's parameters";
            report.add(field, other.to_string(), expected);
            Family::default()
        }
    };
    if family.seed != 0 {
        let found = family.seed.to_string();
        let expected = "no seed, because the losses are drawn with the replay's --seed";
        report.add(&format!("{field}.seed"), found, expected);
    }
    for fault in family.validate().err().unwrap_or_default() {
        let field = format!("{field}.{}", fault.field);
        report.add(&field, fault.found, fault.expected);
    }
    CurvesDraft::Family(family)
}
