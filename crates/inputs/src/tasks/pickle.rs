//! Reads BFTrainer's pair of pickled DataFrames: one contains the bounds of tasks, the other their scaling curves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::curves::Curves;
use super::entry::{Entry, Parsed};
use super::fields::{FIELDS, Fields, Format, Report, TaskField};
use super::node::Node;
use crate::pickled::{of_column, of_pickle};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Local, Stamp};
use gleaner_io::fault::Place;
use gleaner_io::source::Source;
use gleaner_pandas::{Cell, ColumnError, Frame, NAT, read_frame};

/// Name of the field with the submission time, which may be a column of either frame.
const SUBMIT: &str = "submit";

/// The fields that are columns of one frame: the frame of curves if `of_curves` is true, otherwise the frame of tasks.
fn columns(of_curves: bool) -> Vec<&'static TaskField> {
    let is_column = |field: &&TaskField| {
        let in_curves = field.name.starts_with("curve.");
        field.name == SUBMIT || in_curves == of_curves && !["", "index"].contains(&field.original)
    };
    FIELDS.iter().filter(is_column).collect()
}

pub(super) fn read<'a>(
    tasks: &'a Source,
    curves: &Source,
    notes: &mut Vec<String>,
) -> Result<Parsed<'a>> {
    let (task_bytes, curve_bytes) = (tasks.read_all()?, curves.read_all()?);
    let frame = read_frame(&task_bytes).map_err(|e| of_pickle(tasks.path(), &e))?;
    let curve_frame = read_frame(&curve_bytes).map_err(|e| of_pickle(curves.path(), &e))?;
    let (of_task, of_curve) = (columns(false), columns(true));
    require(tasks, &frame, &of_task, &of_curve)?;
    require(curves, &curve_frame, &of_curve, &of_task)?;
    note_ignored(tasks, &frame, &of_task, notes);
    note_ignored(curves, &curve_frame, &of_curve, notes);

    let names = frame
        .index_strings()
        .map_err(|e| of_column(tasks.path(), &e))?;
    let mut rows = curve_rows(curves, &curve_frame)?;
    let mut parsed = Parsed::default();
    let mut shared = Curves::default();
    for (row, name) in names.into_iter().enumerate() {
        let place = format!("{} ({name:?})", Place::Row(row));
        let report = Report::new(tasks.path(), place, Format::Pickle);
        let mut fields = Fields::new([("name", Node::Text(name.to_owned()))], report);
        fields.extend(values(&frame, row, &of_task));
        let curve = rows.get_mut(name).map(|(curve_row, used)| {
            *used = true;
            values(&curve_frame, *curve_row, &of_curve)
        });
        parsed
            .entries
            .push(entry(fields, curve, curves, &mut shared));
    }
    note_unused(curves, &rows, notes);
    Ok(parsed)
}

/// Reads a task. `curve` contains the fields of the task's curve; `None` if the task has no curve.
fn entry<'a>(
    mut fields: Fields<'a>,
    curve: Option<Vec<(&'static str, Node)>>,
    curves: &Source,
    shared: &mut Curves,
) -> Entry<'a> {
    let Some(curve) = curve else {
        let expected = format!("a row with this name in {}", curves.path().display());
        fields.report.add("name", "no scaling curve", expected);
        return Entry::with_curve(fields, None, shared);
    };
    // If both frames have submission times, the times in the frame of tasks take precedence.
    let has_submit = fields.has(SUBMIT);
    let curve = curve.into_iter();
    fields.extend(curve.filter(|(name, _)| *name != SUBMIT || !has_submit));
    Entry::read(fields, shared)
}

/// Returns an error if a frame lacks any of `columns`. `others` are the columns of the other frame. If the frame has
/// any of these other columns, the error suggests that the files are swapped.
fn require(
    source: &Source,
    frame: &Frame<'_>,
    columns: &[&TaskField],
    others: &[&TaskField],
) -> Result<()> {
    let has = |field: &&&TaskField| frame.position(field.original).is_some();
    let mut required = columns.iter().filter(|field| field.name != SUBMIT);
    let Some(missing) = required.find(|field| !has(field)) else {
        return Ok(());
    };
    let present = frame.columns().join(", ");
    let error = ColumnError::Missing {
        name: missing.original.to_owned(),
        present,
    };
    let fault = of_column(source.path(), &error);
    let mut exchanged = others.iter().filter(|field| !columns.contains(field));
    Err(Error::from(if exchanged.any(|field| has(&field)) {
        fault.remedy("swap the files of tasks (-bdfn) and curves (-scfn)")
    } else {
        fault
    }))
}

/// For each name in the frame of curves, the index of its row and a flag that is set once a task uses the row.
fn curve_rows(source: &Source, frame: &Frame<'_>) -> Result<BTreeMap<String, (usize, bool)>> {
    let names = frame
        .index_strings()
        .map_err(|e| of_column(source.path(), &e))?;
    let mut rows = BTreeMap::new();
    let mut report = Report::new(source.path(), "", Format::Pickle);
    for (row, name) in names.into_iter().enumerate() {
        if rows.insert(name.to_owned(), (row, false)).is_some() {
            report.place = Place::Row(row).into();
            report.add("name", format!("{name:?} a second time"), "unique names");
        }
    }
    report.into_result(rows)
}

/// The names of the fields in `columns`, and their values in a row.
fn values(frame: &Frame<'_>, row: usize, columns: &[&TaskField]) -> Vec<(&'static str, Node)> {
    let value = |field: &&TaskField| {
        let cell = frame.cell(frame.position(field.original)?, row)?;
        Some((field.name, node(&cell)))
    };
    columns.iter().filter_map(value).collect()
}

fn node(cell: &Cell<'_>) -> Node {
    match cell {
        Cell::Int(value) => Node::Number(*value as f64),
        // A missing number is NaN, which the rules reject with a message that shows NaN.
        Cell::Float(value) => Node::Number(*value),
        Cell::Text(text) => Node::Text(text.clone().into_owned()),
        Cell::DatetimeNs(nanos) if *nanos != NAT => Node::Time(Stamp::Local(Local(*nanos))),
        Cell::Numbers(numbers) => Node::Numbers(Arc::clone(numbers)),
        other => Node::Other(other.describe()),
    }
}

/// Adds a note that names the ignored columns.
fn note_ignored(source: &Source, frame: &Frame<'_>, read: &[&TaskField], notes: &mut Vec<String>) {
    let ignored = |name: &&str| read.iter().all(|field| field.original != *name);
    let names: Vec<&str> = frame
        .columns()
        .iter()
        .map(AsRef::as_ref)
        .filter(ignored)
        .collect();
    if !names.is_empty() {
        let path = source.path().display();
        notes.push(format!("{path}: ignored the columns {}", names.join(", ")));
    }
}

/// Adds a note about curves that no task uses.
fn note_unused(source: &Source, rows: &BTreeMap<String, (usize, bool)>, notes: &mut Vec<String>) {
    const SHOWN: usize = 5;
    let unused = rows.iter().filter(|(_, (_, used))| !used);
    let names: Vec<&str> = unused.map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let (path, count) = (source.path().display(), names.len());
        let dots = if count > SHOWN { ", …" } else { "" };
        let names = names[..count.min(SHOWN)].join(", ");
        notes.push(format!(
            "{path}: no task uses {count} of the curves: {names}{dots}"
        ));
    }
}
