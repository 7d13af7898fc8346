//! The table of a sweep: a row a run.

use serde_json::Value;

use super::Sweep;
use crate::output::table::{Column, Table};
use crate::sweep::{Field, Kind};

/// The table `sweep`: the run's key, its settings, its figures.
pub fn table<'a>(sweep: &Sweep<'a>) -> Table<'a> {
    let keys = sweep.runs.iter().map(|run| run.key.as_str().into());
    let settings: Vec<&Value> = sweep.runs.iter().map(|run| &run.settings).collect();
    let summaries: Vec<&Value> = sweep.summaries.iter().collect();
    let settings = sweep
        .mode
        .settings()
        .iter()
        .map(|field| (field.name, column(field, &settings)));
    let figures = sweep.mode.metrics().iter().map(|metric| {
        let field = &metric.field;
        (field.name, column(field, &summaries))
    });
    Table {
        name: "sweep",
        columns: std::iter::once(("run", Column::Texts(keys.collect())))
            .chain(settings)
            .chain(figures)
            .collect(),
    }
}

fn column<'a>(field: &Field, values: &[&Value]) -> Column<'a> {
    let found = values.iter().map(|value| value.pointer(field.pointer));
    match field.kind {
        Kind::Text => Column::Texts(found.map(|value| shown(value).into()).collect()),
        Kind::Whole => Column::OptionalWhole(found.map(|value| value?.as_i64()).collect()),
        Kind::Float => Column::Floats(found.map(|value| value?.as_f64()).collect()),
    }
}

/// A value as a cell has it; nothing for none.
pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
