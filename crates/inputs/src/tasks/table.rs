//! Reads tasks from CSV or Parquet: one row for each task, with columns in any order.
//!
//! ```csv
//! name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress,curve_objective
//! trial-1,1,8,18,12,1.3e8,0;1;2;4;8,0;2831;5259;9988;20379.2,
//! trial-2,2,4,20,10,1e6,0;2;4,0;100;180,0;1;1.8
//! ```
//!
//! The numbers of a curve are separated by `;` or spaces. In Parquet, a cell may also contain a list of numbers. The
//! column of an optional field may be missing or have empty cells.
//!
//! A table has one curve for each task. If the nodes belong to several classes, the column `speed` can list, for each
//! class, a factor by which the curve is multiplied, such as `v100=1;a100=2.4`.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use csv::StringRecord;

use super::curves::Curves;
use super::entry::{Entry, Parsed};
use super::fields::{FIELDS, Fields, Format, Report, Shape, TaskField};
use super::node::{ListBuilder, Node};
use gleaner_domain::Stamp;
use gleaner_domain::error::{Fault, Result};
use gleaner_io::delimited::{ColumnNames, Records};
use gleaner_io::fault::Place;
use gleaner_io::parquet::{Column, Table, Value};
use gleaner_io::source::Source;

/// The declared fields of a table's columns, in the order of the columns.
struct Columns<'a> {
    source: &'a Source,
    fields: Vec<&'static TaskField>,
}

impl<'a> Columns<'a> {
    /// Finds the field of each column.
    ///
    /// # Errors
    /// Columns are unknown, missing or repeated. Their faults are reported together.
    fn find(source: &'a Source, names: &ColumnNames) -> Result<Self, Vec<Fault>> {
        let fault = |found: &str, expected: &str, name: &str| {
            let fault = source.fault(found, expected);
            fault.at(Place::Header).field(name)
        };
        let wrong = FIELDS.iter().filter_map(|field| {
            let column = field.column();
            let found = match names.count(&column) {
                0 if field.is_optional => return None,
                0 => "no such column".to_owned(),
                1 => return None,
                count => format!("{count} such columns"),
            };
            Some(fault(&found, "one such column", &column))
        });
        let of = |name: &String| FIELDS.iter().find(|field| field.column() == *name);
        let unknown = names.all().iter().filter(|name| of(name).is_none());
        let unknown = unknown.map(|name| {
            let columns: Vec<String> = FIELDS.iter().map(TaskField::column).collect();
            let expected = format!("one of {}", columns.join(", "));
            let fault = fault("an unknown column", &expected, name);
            fault.remedy("correct or remove it")
        });
        let faults: Vec<Fault> = wrong.chain(unknown).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let fields = names.all().iter().filter_map(of).collect();
        Ok(Columns { source, fields })
    }

    /// Reads the task of a row.
    fn entry(
        &self,
        place: Place,
        cells: impl Iterator<Item = Node>,
        curves: &mut Curves,
    ) -> Entry<'a> {
        let names = self.fields.iter().map(|field| field.name);
        let report = self.report(place);
        Entry::read(Fields::new(names.zip(cells), report), curves)
    }

    fn report(&self, place: Place) -> Report<'a> {
        Report::new(self.source.path(), place, Format::Table)
    }
}

pub(super) fn read_csv(source: &Source) -> Result<Parsed<'_>> {
    let mut records = Records::open(source)?;
    let columns = match Columns::find(source, &records.names()) {
        Ok(columns) => columns,
        Err(faults) => return Ok(Parsed::of_faults(faults)),
    };
    let width = columns.fields.len();
    let mut parsed = Parsed::default();
    let mut curves = Curves::default();
    let mut record = StringRecord::new();
    while let Some(line) = records.next_text(&mut record)? {
        let place = Place::Line(line);
        parsed.entries.push(if record.len() == width {
            let cells = columns.fields.iter().zip(&record);
            let nodes = cells.map(|(field, cell)| parse(field.shape, cell.trim()));
            columns.entry(place, nodes, &mut curves)
        } else {
            let mut report = columns.report(place);
            let expected = format!("{width}, as in the header");
            report.add("", format!("{} fields", record.len()), expected);
            Entry::of_faults(report)
        });
    }
    Ok(parsed)
}

/// Parses the text of a cell according to its field.
fn parse(shape: Shape, cell: &str) -> Node {
    let text = || Node::Text(cell.to_owned());
    match shape {
        _ if cell.is_empty() => Node::Null,
        Shape::Numbers => Node::parse_list(cell),
        Shape::Factors => Node::parse_table(cell),
        Shape::Number => cell.parse().map_or_else(|_| text(), Node::Number),
        Shape::Text => text(),
    }
}

pub(super) fn read_parquet(source: &Source) -> Result<Parsed<'_>> {
    let table = Table::open(source)?;
    let names = table.columns().iter().map(|column| column.name.as_str());
    let columns = match Columns::find(source, &ColumnNames::new(names)) {
        Ok(columns) => columns,
        Err(faults) => return Ok(Parsed::of_faults(faults)),
    };
    let mut rows = vec![Vec::new(); table.rows()];
    for (column, field) in table.columns().iter().zip(&columns.fields) {
        for (row, node) in rows
            .iter_mut()
            .zip(column_nodes(&table, column, field.shape)?)
        {
            row.push(node);
        }
    }
    let mut curves = Curves::default();
    let rows = rows.into_iter().enumerate();
    let entries =
        rows.map(|(row, cells)| columns.entry(Place::Row(row), cells.into_iter(), &mut curves));
    Ok(Parsed {
        entries: entries.collect(),
        ..Parsed::default()
    })
}

/// The cells of a column. Equal lists of numbers share memory, because a few bytes of a file can encode many rows with
/// the same list.
fn column_nodes(table: &Table<'_>, column: &Column, shape: Shape) -> Result<Vec<Node>> {
    let mut nodes: Vec<Node> = vec![Node::Null; table.rows()];
    let mut lists = Lists::default();
    let (mut list, mut list_row) = (ListBuilder::default(), 0);
    table.visit_elements(column, |row, value| {
        let node = node(column, shape, value);
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

/// The distinct lists of numbers in a column.
#[derive(Default)]
struct Lists(BTreeSet<ByContent>);

impl Lists {
    /// Returns the list built so far. An empty list is returned as a missing value, because it cannot be distinguished
    /// from a cell without a list.
    fn finish(&mut self, list: &mut ListBuilder) -> Node {
        match list.finish() {
            Node::Numbers(numbers) if numbers.is_empty() => Node::Null,
            node => self.share(node),
        }
    }

    /// Returns `node`. A list of numbers that equals an earlier list shares the memory of that list.
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

fn node(column: &Column, shape: Shape, value: Value<'_>) -> Node {
    match value {
        Value::Null | Value::Empty => Node::Null,
        Value::Bool(value) => Node::Bool(value),
        Value::Int(value) => Node::Number(value as f64),
        Value::Float(value) => Node::Number(value),
        Value::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => parse(shape, text),
            Err(_) => Node::Other(value.to_string()),
        },
        Value::Time(Some(time)) if column.utc => Node::Time(Stamp::Epoch(time.from_offset(0))),
        Value::Time(Some(time)) => Node::Time(Stamp::Local(time)),
        Value::Time(None) => Node::Other(value.to_string()),
    }
}
