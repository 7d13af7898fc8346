//! Reads tasks from CSV or Parquet: a row each, with columns in any order.
//!
//! ```csv
//! name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress,curve_objective
//! trial-1,1,8,18,12,1.3e8,0;1;2;4;8,0;2831;5259;9988;20379.2,
//! trial-2,2,4,20,10,1e6,0;2;4,0;100;180,0;1;1.8
//! ```
//!
//! The numbers of a curve are separated by `;` or spaces; in Parquet they may also be lists. Columns
//! `submit` and `deadline` (times such as `2021-02-10 20:21:15`) and a column `priority` may be
//! added. Cells of these and of `curve_objective` may be empty, and all four columns may be missing.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use csv::StringRecord;

use super::curves::Curves;
use super::entry::{Entry, Parsed};
use super::fields::{Fields, Labels, Report};
use super::node::{ListBuilder, Node};
use gleaner_core::domain::Stamp;
use gleaner_core::error::{Fault, Result};
use gleaner_io::delimited::{ColumnNames, Records};
use gleaner_io::fault::Place;
use gleaner_io::parquet::{Column, Table, Value};
use gleaner_io::source::Source;

static LABELS: Labels = Labels::OURS;

/// Columns that hold texts.
const TEXTS: [&str; 3] = ["name", "submit", "deadline"];
/// Columns that hold lists of numbers.
const LISTS: [&str; 3] = ["curve_nodes", "curve_progress", "curve_objective"];
/// Columns that hold numbers.
const NUMBERS: [&str; 6] = [
    "min_nodes",
    "max_nodes",
    "rescale_up",
    "rescale_down",
    "work",
    "priority",
];
/// Columns that may be missing.
const OPTIONAL: [&str; 4] = ["submit", "deadline", "priority", "curve_objective"];

/// All columns that a table of tasks can have.
fn known() -> impl Iterator<Item = &'static str> {
    TEXTS.into_iter().chain(NUMBERS).chain(LISTS)
}

pub(super) fn read_csv(source: &Source) -> Result<Parsed<'_>> {
    let mut records = Records::open(source)?;
    let names = records.names();
    let mut parsed = Parsed {
        fatal: check_header(source, &names),
        ..Parsed::default()
    };
    if !parsed.fatal.is_empty() {
        return Ok(parsed);
    }
    let mut curves = Curves::default();
    let mut record = StringRecord::new();
    while let Some(line) = records.next_text(&mut record)? {
        let mut report = Report::new(source.path(), Place::Line(line).into(), &LABELS);
        if record.len() == names.all().len() {
            let fields = Fields::new(cells(&names, &record), report);
            parsed.entries.push(Entry::read(fields, &mut curves));
        } else {
            let expected = format!("{}, as in the header", names.all().len());
            report.add("", format!("{} fields", record.len()), expected);
            parsed.entries.extend(Entry::of_faults(report));
        }
    }
    Ok(parsed)
}

/// The faults of a header: names that are unknown, missing or repeated.
fn check_header(source: &Source, names: &ColumnNames) -> Vec<Fault> {
    let fault = |found: String, expected: String, name: &str| {
        let fault = source.fault(found, expected);
        fault.at(Place::Header).field(name)
    };
    let wrong = known().filter_map(|name| {
        let found = match names.count(name) {
            0 if OPTIONAL.contains(&name) => return None,
            0 => "no such column".to_owned(),
            1 => return None,
            count => format!("{count} such columns"),
        };
        Some(fault(found, "the column once".to_owned(), name))
    });
    let names = names.all().iter();
    let unknown = names.filter(|name| known().all(|known| known != *name));
    let unknown = unknown.map(|name| {
        let expected = format!("one of {}", known().collect::<Vec<_>>().join(", "));
        let found = "a column that no task has".to_owned();
        fault(found, expected, name).remedy("correct or remove it")
    });
    wrong.chain(unknown).collect()
}

fn cells(names: &ColumnNames, record: &StringRecord) -> Vec<(String, Node)> {
    let cells = names.all().iter().zip(record);
    cells
        .map(|(name, cell)| (name.clone(), parse(name, cell.trim())))
        .collect()
}

/// The text of a cell, parsed as its column requires.
fn parse(column: &str, cell: &str) -> Node {
    if cell.is_empty() {
        Node::Null
    } else if LISTS.contains(&column) {
        Node::parse_list(cell)
    } else if NUMBERS.contains(&column) {
        cell.parse()
            .map_or_else(|_| Node::Text(cell.to_owned()), Node::Number)
    } else {
        Node::Text(cell.to_owned())
    }
}

pub(super) fn read_parquet(source: &Source) -> Result<Parsed<'_>> {
    let table = Table::open(source)?;
    let names = table.columns().iter().map(|column| column.name.as_str());
    let fatal = check_header(source, &ColumnNames::new(names));
    if !fatal.is_empty() {
        return Ok(Parsed {
            fatal,
            ..Parsed::default()
        });
    }
    let mut rows = vec![Vec::new(); table.rows()];
    for column in table.columns() {
        for (row, node) in rows.iter_mut().zip(column_nodes(&table, column)?) {
            row.push((column.name.clone(), node));
        }
    }
    let mut curves = Curves::default();
    let entries = rows.into_iter().enumerate().map(|(row, values)| {
        let report = Report::new(source.path(), Place::Row(row).into(), &LABELS);
        Entry::read(Fields::new(values, report), &mut curves)
    });
    Ok(Parsed {
        entries: entries.collect(),
        fatal,
        ..Parsed::default()
    })
}

/// The cells of a column. Equal lists of numbers share memory, because a few bytes of a file can
/// stand for many rows with the same list.
fn column_nodes(table: &Table<'_>, column: &Column) -> Result<Vec<Node>> {
    let mut nodes: Vec<Node> = vec![Node::Null; table.rows()];
    let mut lists = Lists::default();
    let (mut list, mut list_row) = (ListBuilder::default(), 0);
    table.visit_elements(column, |row, value| {
        let node = node(column, value);
        if !column.is_list() {
            nodes[row] = lists.share(node);
            return Ok(());
        }
        if row != list_row {
            nodes[list_row] = lists.finish(&mut list);
            list_row = row;
        }
        if value != Value::Empty {
            list.push(node);
        }
        Ok(())
    })?;
    if column.is_list() && !nodes.is_empty() {
        nodes[list_row] = lists.finish(&mut list);
    }
    Ok(nodes)
}

/// The distinct lists of numbers of a column.
#[derive(Default)]
struct Lists(BTreeSet<ByContent>);

impl Lists {
    /// Returns the list built so far. An empty list is returned as a missing value, because a cell
    /// without a list looks the same.
    fn finish(&mut self, list: &mut ListBuilder) -> Node {
        match list.finish() {
            Node::Numbers(numbers) if numbers.is_empty() => Node::Null,
            node => self.share(node),
        }
    }

    /// Returns the node. If an equal list is known, the node shares it.
    fn share(&mut self, node: Node) -> Node {
        let Node::Numbers(numbers) = node else {
            return node;
        };
        let own = ByContent(numbers);
        if let Some(known) = self.0.get(&own) {
            return Node::Numbers(Arc::clone(&known.0));
        }
        self.0.insert(ByContent(Arc::clone(&own.0)));
        Node::Numbers(own.0)
    }
}

/// A list of numbers, ordered by length and then by content.
struct ByContent(Arc<[f64]>);

impl Ord for ByContent {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(other.0.iter());
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| {
            let differing = pairs.map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne());
            differing.unwrap_or(Ordering::Equal)
        })
    }
}

impl PartialOrd for ByContent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByContent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByContent {}

fn node(column: &Column, value: Value<'_>) -> Node {
    match value {
        Value::Null | Value::Empty => Node::Null,
        Value::Bool(value) => Node::Bool(value),
        Value::Int(value) => Node::Number(value as f64),
        Value::Float(value) => Node::Number(value),
        Value::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => parse(&column.name, text),
            Err(_) => Node::Other(value.to_string()),
        },
        Value::Time(Some(time)) if column.utc => Node::Time(Stamp::Epoch(time)),
        Value::Time(Some(time)) => Node::Time(Stamp::Local(time)),
        Value::Time(None) => Node::Other(value.to_string()),
    }
}
