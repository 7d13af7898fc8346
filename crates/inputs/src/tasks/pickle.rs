//! Reads the original's pair of pickled DataFrames: the bounds of tasks, and their scaling curves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::curves::Curves;
use super::entry::{Entry, Parsed};
use super::fields::{Fields, Labels, Report};
use super::node::Node;
use crate::pickle::{Cell, ColumnError, Frame, NAT, read_frame};
use crate::pickle::{of_column, of_pickle};
use gleaner_core::domain::{Stamp, Time};
use gleaner_core::error::{Error, Result};
use gleaner_io::fault::Place;
use gleaner_io::source::Source;

static LABELS: Labels = Labels {
    name: "index",
    submit: "Tsub",
    min_nodes: "Jmin",
    max_nodes: "Jmax",
    rescale_up: "Tcup",
    rescale_down: "Tcdw",
    work: "Pmax",
    priority: "priority",
    deadline: "deadline",
    nodes: "Ns",
    progress: "Ps",
    objective: "Os",
};

const BOUNDS: [&str; 5] = ["Tcup", "Tcdw", "Jmin", "Jmax", "Pmax"];
const CURVE: [&str; 3] = ["Ns", "Ps", "Os"];
const SUBMIT: &str = "Tsub";

pub(super) fn read<'a>(
    tasks: &'a Source,
    curves: &Source,
    notes: &mut Vec<String>,
) -> Result<Parsed<'a>> {
    let (task_bytes, curve_bytes) = (tasks.read_all()?, curves.read_all()?);
    let frame = read_frame(&task_bytes).map_err(|e| of_pickle(tasks.path(), &e))?;
    let curve_frame = read_frame(&curve_bytes).map_err(|e| of_pickle(curves.path(), &e))?;
    require(tasks, &frame, &BOUNDS)?;
    require(curves, &curve_frame, &CURVE)?;
    note_ignored(tasks, &frame, &BOUNDS, notes);
    note_ignored(curves, &curve_frame, &CURVE, notes);

    let names = frame
        .index_strings()
        .map_err(|e| of_column(tasks.path(), &e))?;
    let mut rows = curve_rows(curves, &curve_frame)?;
    let mut parsed = Parsed::default();
    let mut shared = Curves::default();
    for (row, name) in names.into_iter().enumerate() {
        let place = format!("{} ({name:?})", Place::Row(row));
        let report = Report::new(tasks.path(), place, &LABELS);
        let name_field = (LABELS.name.to_owned(), Node::Text(name.to_owned()));
        let mut fields = Fields::new([name_field], report);
        fields.extend(values(&frame, row, &BOUNDS));
        fields.extend(values(&frame, row, &[SUBMIT]));
        let curve = rows.get_mut(name).map(|(curve_row, used)| {
            *used = true;
            (&curve_frame, *curve_row)
        });
        parsed
            .entries
            .push(entry(fields, curve, curves, &mut shared));
    }
    note_unused(curves, &rows, notes);
    Ok(parsed)
}

/// Reads a task. `curve` is the frame and row of its curve, if there is one.
fn entry<'a>(
    mut fields: Fields<'a>,
    curve: Option<(&Frame<'_>, usize)>,
    curves: &Source,
    shared: &mut Curves,
) -> Entry<'a> {
    let Some((frame, row)) = curve else {
        let expected = format!("a row of this name in {}", curves.path().display());
        fields.report.add(LABELS.name, "no scaling curve", expected);
        return Entry::with_curve(fields, None);
    };
    fields.extend(values(frame, row, &CURVE));
    if !fields.has(SUBMIT) {
        fields.extend(values(frame, row, &[SUBMIT]));
    }
    Entry::read(fields, shared)
}

/// Returns an error if a frame lacks one of these columns.
fn require(source: &Source, frame: &Frame<'_>, columns: &[&str]) -> Result<()> {
    let Some(missing) = columns.iter().find(|name| frame.position(name).is_none()) else {
        return Ok(());
    };
    let present = frame.columns().join(", ");
    let error = ColumnError::Missing {
        name: (*missing).to_owned(),
        present,
    };
    let fault = of_column(source.path(), &error);
    let known = BOUNDS
        .iter()
        .chain(&CURVE)
        .filter(|name| !columns.contains(name));
    let others = known.filter(|name| frame.position(name).is_some());
    Err(Error::from(match others.count() {
        0 => fault,
        _ => fault.remedy("exchange the files of tasks (-bdfn) and curves (-scfn)"),
    }))
}

/// The row of each name in the frame of curves, with a flag that a task sets when it uses the row.
fn curve_rows(source: &Source, frame: &Frame<'_>) -> Result<BTreeMap<String, (usize, bool)>> {
    let names = frame
        .index_strings()
        .map_err(|e| of_column(source.path(), &e))?;
    let mut rows = BTreeMap::new();
    let mut report = Report::new(source.path(), String::new(), &LABELS);
    for (row, name) in names.into_iter().enumerate() {
        if rows.insert(name.to_owned(), (row, false)).is_some() {
            report.place = Place::Row(row).into();
            report.add(
                "index",
                format!("{name:?} a second time"),
                "every name once",
            );
        }
    }
    report.into_result(rows)
}

/// The values of these columns in a row, with their names.
fn values(frame: &Frame<'_>, row: usize, columns: &[&str]) -> Vec<(String, Node)> {
    let value = |name: &&str| {
        let cell = frame.cell(frame.position(name)?, row)?;
        Some(((*name).to_owned(), node(&cell)))
    };
    columns.iter().filter_map(value).collect()
}

fn node(cell: &Cell<'_>) -> Node {
    match cell {
        Cell::Int(value) => Node::Number(*value as f64),
        // A missing number is NaN. The rules refuse it and show it as NaN.
        Cell::Float(value) => Node::Number(*value),
        Cell::Text(text) => Node::Text(text.clone().into_owned()),
        Cell::DatetimeNs(nanos) if *nanos != NAT => Node::Time(Stamp::Local(Time(*nanos))),
        Cell::Numbers(numbers) => Node::Numbers(Arc::clone(numbers)),
        other => Node::Other(other.describe()),
    }
}

/// Adds a remark on columns that are not read.
fn note_ignored(source: &Source, frame: &Frame<'_>, read: &[&str], notes: &mut Vec<String>) {
    let ignored = |name: &&str| !read.contains(name) && *name != SUBMIT;
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

/// Adds a remark on curves that no task uses.
fn note_unused(source: &Source, rows: &BTreeMap<String, (usize, bool)>, notes: &mut Vec<String>) {
    const SHOWN: usize = 5;
    let unused = rows.iter().filter(|(_, (_, used))| !used);
    let names: Vec<&str> = unused.map(|(name, _)| name.as_str()).collect();
    if !names.is_empty() {
        let (path, count) = (source.path().display(), names.len());
        let dots = if count > SHOWN { ", …" } else { "" };
        let names = names[..count.min(SHOWN)].join(", ");
        notes.push(format!(
            "{path}: {count} curves belong to no task: {names}{dots}"
        ));
    }
}
