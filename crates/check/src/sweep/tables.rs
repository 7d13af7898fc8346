//! Compares the tables of a sweep with its records.

use gleaner_domain::error::Result;
use gleaner_domain::results::Column;
use gleaner_domain::results::sweep::{Field, Mode, PROGRAM_FAULTS, SEED, WINDOW};
use gleaner_runs::read::{RunInfo, StoredTable};
use serde_json::Value;

use super::Run;
use super::groups::{Group, Spread};
use crate::Findings;

/// Formats a setting as the text of a cell; empty if the setting is missing.
pub(super) fn setting(field: &Field, settings: &Value) -> String {
    match settings.pointer(field.pointer) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Compares the table `sweep`, which has one row for each run.
pub(super) fn runs(
    info: &RunInfo,
    mode: Mode,
    runs: &[Run],
    findings: &mut Findings,
) -> Result<()> {
    let table = Stored::read(info, "sweep", runs.len(), findings)?;
    table.texts("run", runs.iter().map(|run| run.key.clone()), findings);
    for field in mode.settings() {
        let expected = runs.iter().map(|run| setting(field, &run.settings));
        table.texts(field.name, expected, findings);
    }
    for metric in mode.metrics() {
        let expected = runs.iter().map(|run| metric.of(&run.outcome.summary));
        table.numbers(metric.name, expected, findings);
    }
    if mode == Mode::Replay {
        let faults = runs.iter().map(|run| {
            let program = run.outcome.program.as_ref();
            program.map(|program| program.faults() as f64)
        });
        table.numbers(PROGRAM_FAULTS, faults, findings);
    }
    Ok(())
}

type Figure = fn(&Spread) -> Option<f64>;

/// Compares the tables of statistics over groups of runs that differ only in their seed and their window. Each table
/// has one row for each group.
pub(super) fn settings(
    info: &RunInfo,
    mode: Mode,
    runs: &[Run],
    groups: &[Group],
    findings: &mut Findings,
) -> Result<()> {
    let figures: [(&str, Figure); 5] = [
        ("settings", |spread| Some(spread.mean)),
        ("settings_sd", |spread| spread.deviation),
        ("settings_se", |spread| spread.error),
        ("settings_low", |spread| spread.ends.map(|ends| ends[0])),
        ("settings_high", |spread| spread.ends.map(|ends| ends[1])),
    ];
    for (name, of) in figures {
        let table = Stored::read(info, name, groups.len(), findings)?;
        let fields = mode.settings().iter();
        for field in fields.filter(|field| ![SEED, WINDOW].contains(&field.name)) {
            let first = |group: &Group| setting(field, &runs[group.runs[0]].settings);
            table.texts(field.name, groups.iter().map(first), findings);
        }
        let seeds = groups.iter().map(|group| Some(group.seeds() as f64));
        table.numbers("seeds", seeds, findings);
        let windows = groups.iter().map(|group| Some(group.windows()? as f64));
        table.numbers("windows", windows, findings);
        for metric in mode.metrics() {
            let spread = |group: &Group| group.spread(runs, metric).as_ref().and_then(of);
            table.numbers(metric.name, groups.iter().map(spread), findings);
        }
    }
    Ok(())
}

/// A table that was read from a file.
struct Stored {
    table: StoredTable,
}

impl Stored {
    fn read(info: &RunInfo, name: &str, rows: usize, findings: &mut Findings) -> Result<Self> {
        let table = info.table(name)?;
        let found = table.columns.first().map_or(0, |(_, column)| match column {
            Column::Texts(values) => values.len(),
            Column::Floats(values) => values.len(),
            Column::OptionalWhole(values) => values.len(),
            Column::Times(values) => values.len(),
            _ => 0,
        });
        findings.equal(format_args!("{name}: rows"), found, rows);
        Ok(Stored { table })
    }

    fn column(&self, name: &str, findings: &mut Findings) -> Option<&Column<'static>> {
        let mut columns = self.table.columns.iter();
        let found = columns.find(|(other, _)| other == name);
        findings.holds(found.is_some(), || {
            format!("{}: the column {name} is missing", self.table.name)
        });
        findings.covers(self.table.name.as_str(), [name]);
        found.map(|(_, column)| column)
    }

    /// Compares a text column with the expected values.
    fn texts(&self, name: &str, expected: impl Iterator<Item = String>, findings: &mut Findings) {
        let Some(column) = self.column(name, findings) else {
            return;
        };
        for (row, expected) in expected.enumerate() {
            let place = format!("{}, row {row}: {name}", self.table.name);
            match column {
                Column::Texts(values) => {
                    let written = values.get(row).map_or("", |text| text.as_ref());
                    findings.equal(place, written, expected.as_str());
                }
                _ => findings.option(place, number(column, row), expected.parse().ok()),
            }
        }
    }

    /// Compares a numeric column with the expected values.
    fn numbers(
        &self,
        name: &str,
        expected: impl Iterator<Item = Option<f64>>,
        findings: &mut Findings,
    ) {
        let Some(column) = self.column(name, findings) else {
            return;
        };
        for (row, expected) in expected.enumerate() {
            let place = format!("{}, row {row}: {name}", self.table.name);
            findings.option(place, number(column, row), expected);
        }
    }
}

fn number(column: &Column<'_>, row: usize) -> Option<f64> {
    match column {
        Column::Floats(values) => *values.get(row)?,
        Column::OptionalWhole(values) => values.get(row)?.map(|value| value as f64),
        _ => None,
    }
}
