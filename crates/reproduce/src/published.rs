//! Reads and checks the published values, which are stored as data in `published.toml`.

use std::collections::BTreeSet;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::Named;
use gleaner_domain::results::reproduce::{Basis, Drawing, Rounding, System};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

use crate::verdict::Given;

const FILE: &str = include_str!("../published.toml");

/// The contents of the whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    artifact: Vec<PublishedArtifact>,
}

/// A table or figure with its published values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedArtifact {
    /// The identifier, which consists of lowercase letters, digits and hyphens.
    pub id: String,
    /// The system that the table or figure comes from.
    #[serde(deserialize_with = "named")]
    pub system: System,
    /// The heading.
    pub title: String,
    /// A description of what the table or figure shows.
    pub text: String,
    /// The source of the values, for example a document, a file and a cell.
    pub source: String,
    /// Whether the authors published the values, or a reference run produced them.
    #[serde(deserialize_with = "named")]
    pub basis: Basis,
    /// The rounding of the published values.
    #[serde(default)]
    pub rounding: Rounding,
    /// Whether differences are expressed as shares of the range of the row's values.
    #[serde(default)]
    pub against_range: bool,
    /// The kind of chart; `None` if the artifact is a table or if our code draws the figure.
    #[serde(default)]
    pub draw: Option<Draw>,
    /// The columns.
    pub columns: Vec<PublishedColumn>,
    /// The rows, each with a name and a value for each column.
    #[serde(default)]
    pub rows: Vec<(String, Vec<f64>)>,
    /// Notes on rows or on individual values.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Values that cannot be computed from public data.
    #[serde(default)]
    pub impossible: Vec<NotComputed>,
    /// Values that could be computed but are left out for another reason.
    #[serde(default)]
    pub left_out: Vec<NotComputed>,
}

/// A column of a table or figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// The name.
    pub name: String,
    /// The unit; empty if the column has none.
    pub unit: String,
    /// Number of decimals of the column's values.
    pub decimals: u32,
}

/// A kind of chart, with the labels of its axes.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "as", rename_all = "lowercase", deny_unknown_fields)]
pub enum Draw {
    /// Same as [`Drawing::Bars`].
    Bars {
        /// The quantity, with its unit.
        y: String,
    },
    /// Same as [`Drawing::Curves`].
    Curves {
        /// The quantity along the horizontal axis.
        x: String,
        /// Whether the horizontal axis is logarithmic.
        #[serde(default)]
        log: bool,
        /// The quantity along the vertical axis.
        y: String,
    },
}

impl From<&Draw> for Drawing {
    fn from(draw: &Draw) -> Self {
        match draw.clone() {
            Draw::Bars { y } => Drawing::Bars { y },
            Draw::Curves { x, log, y } => Drawing::Curves { x, log, y },
        }
    }
}

/// A note on a row or on a single value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Name of the row.
    pub row: String,
    /// The column. If the column is missing, the note applies to the whole row.
    pub column: Option<String>,
    /// The text of the note.
    pub text: String,
}

/// A published value that is not computed here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotComputed {
    /// Name of the row.
    pub row: String,
    /// Name of the column.
    pub column: String,
    /// The published value, if it is available.
    pub value: Option<f64>,
    /// The reason why the value is not computed.
    pub why: String,
}

/// Maximum number of decimals of a published value. A share below 0.01 has up to 18 decimals if it is printed with all
/// its digits.
const MOST_DECIMALS: u32 = 18;

fn named<'de, T: Named, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let found = T::ALL.iter().copied().find(|value| value.name() == text);
    found.ok_or_else(|| D::Error::custom(format!("unknown name {text:?}")))
}

/// The published values of one system, in the order of the file.
///
/// # Errors
/// The file, which is embedded in the program, is not well formed.
pub fn of(system: System) -> Result<Vec<PublishedArtifact>> {
    Ok(all()?.into_iter().filter(|a| a.system == system).collect())
}

/// All published values.
///
/// # Errors
/// The file, which is embedded in the program, is not well formed.
pub fn all() -> Result<Vec<PublishedArtifact>> {
    parse(FILE).map_err(|why| faulty(&why))
}

/// Parses and checks the text of a file of published values. The error describes the first fault.
fn parse(text: &str) -> Result<Vec<PublishedArtifact>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut ids = BTreeSet::new();
    for artifact in &file.artifact {
        if let Some(fault) = artifact.fault() {
            return Err(format!("{}: {fault}", artifact.id));
        }
        if !ids.insert(&artifact.id) {
            return Err(format!("{} occurs twice", artifact.id));
        }
    }
    Ok(file.artifact)
}

/// Returns the error for a fault in the embedded file of published values.
pub fn faulty(why: &str) -> Error {
    Error::Run(format!(
        "the published values in this program are faulty: {why}; please report this bug"
    ))
}

impl PublishedArtifact {
    /// Describes the artifact's first fault; `None` if there is none.
    fn fault(&self) -> Option<String> {
        let is_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.id.is_empty() || !self.id.chars().all(is_id) {
            return Some(
                "the id is empty or contains characters other than lowercase letters, digits and hyphens"
                    .to_owned(),
            );
        }
        let texts = [&self.title, &self.text, &self.source];
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Some("title, text or source is empty".to_owned());
        }
        let unique: BTreeSet<_> = self.rows.iter().map(|(name, _)| name).collect();
        let columns: BTreeSet<_> = self.columns.iter().map(|column| &column.name).collect();
        if unique.len() < self.rows.len() || columns.len() < self.columns.len() {
            return Some("a row or column occurs twice".to_owned());
        }
        self.rows
            .iter()
            .find_map(|(name, values)| self.row_fault(name, values))
    }

    fn row_fault(&self, name: &str, values: &[f64]) -> Option<String> {
        if values.len() != self.columns.len() {
            let (found, expected) = (values.len(), self.columns.len());
            return Some(format!(
                "row {name}: found {found} values, expected {expected} (one per column)"
            ));
        }
        let wrong = values.iter().zip(&self.columns).find(|(value, column)| {
            let scaled = **value * 10f64.powi(column.decimals as i32);
            let is_off = (scaled - scaled.round()).abs() > 1e-6 * scaled.abs().max(1.0);
            !value.is_finite() || column.decimals > MOST_DECIMALS || is_off
        })?;
        Some(format!(
            "row {name}, {}: found {}, expected a number (maximum number of decimals: {})",
            wrong.1.name, wrong.0, wrong.1.decimals
        ))
    }

    /// The published value in a row and a column.
    pub fn given(&self, row: &str, column: usize) -> Option<Given> {
        let (_, values) = self.rows.iter().find(|(name, _)| name == row)?;
        let value = *values.get(column)?;
        let scale = if self.against_range {
            range(values)
        } else {
            value.abs()
        };
        Some(Given {
            value,
            decimals: self.columns.get(column)?.decimals,
            rounding: self.rounding,
            scale,
        })
    }

    /// The notes that apply to a value, separated by spaces.
    pub fn note(&self, row: &str, column: &str) -> String {
        let about = |note: &&Note| {
            note.row == row && note.column.as_ref().is_none_or(|name| name == column)
        };
        let texts = self
            .notes
            .iter()
            .filter(about)
            .map(|note| note.text.as_str());
        texts.collect::<Vec<_>>().join(" ")
    }
}

/// The largest value minus the smallest.
fn range(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - least
}

#[cfg(test)]
mod tests;
