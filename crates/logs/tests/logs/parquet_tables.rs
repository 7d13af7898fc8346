//! Writes small Parquet files for the tests.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

/// A column. A missing value is `None`.
#[derive(Debug, Clone)]
pub enum Cells {
    Text(Vec<Option<String>>),
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    Bool(Vec<Option<bool>>),
    /// Timestamps, with their unit (`MILLIS`, `MICROS` or `NANOS`) and a flag for UTC.
    Time(&'static str, bool, Vec<Option<i64>>),
    Lists(Vec<Option<Vec<String>>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Text(cells) => cells.len(),
            Cells::Int(cells) | Cells::Time(_, _, cells) => cells.len(),
            Cells::Float(cells) => cells.len(),
            Cells::Bool(cells) => cells.len(),
            Cells::Lists(cells) => cells.len(),
        }
    }

    fn field(&self, name: &str) -> String {
        match self {
            Cells::Text(_) => format!("optional binary {name} (STRING);"),
            Cells::Int(_) => format!("optional int64 {name};"),
            Cells::Float(_) => format!("optional double {name};"),
            Cells::Bool(_) => format!("optional boolean {name};"),
            Cells::Time(unit, utc, _) => {
                format!("optional int64 {name} (TIMESTAMP({unit},{utc}));")
            }
            Cells::Lists(_) => format!(
                "optional group {name} (LIST) {{ repeated group list {{ optional binary element (STRING); }} }}"
            ),
        }
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>, rows: std::ops::Range<usize>) {
        let levels = |there: Vec<bool>| there.into_iter().map(i16::from).collect::<Vec<_>>();
        match self {
            Cells::Text(cells) => {
                let cells = &cells[rows];
                let values: Vec<ByteArray> = cells
                    .iter()
                    .flatten()
                    .map(|text| text.as_str().into())
                    .collect();
                let levels = levels(cells.iter().map(Option::is_some).collect());
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, Some(&levels), None)
                    .unwrap();
            }
            Cells::Int(cells) | Cells::Time(_, _, cells) => {
                let cells = &cells[rows];
                let values: Vec<i64> = cells.iter().flatten().copied().collect();
                let levels = levels(cells.iter().map(Option::is_some).collect());
                column
                    .typed::<Int64Type>()
                    .write_batch(&values, Some(&levels), None)
                    .unwrap();
            }
            Cells::Float(cells) => {
                let cells = &cells[rows];
                let values: Vec<f64> = cells.iter().flatten().copied().collect();
                let levels = levels(cells.iter().map(Option::is_some).collect());
                column
                    .typed::<DoubleType>()
                    .write_batch(&values, Some(&levels), None)
                    .unwrap();
            }
            Cells::Bool(cells) => {
                let cells = &cells[rows];
                let values: Vec<bool> = cells.iter().flatten().copied().collect();
                let levels = levels(cells.iter().map(Option::is_some).collect());
                column
                    .typed::<BoolType>()
                    .write_batch(&values, Some(&levels), None)
                    .unwrap();
            }
            Cells::Lists(cells) => write_lists(column, &cells[rows]),
        }
    }
}

/// Writes a column of lists. Its definition levels are 0 for no list, 1 for an empty list, and 3 for a string.
fn write_lists(column: &mut SerializedColumnWriter<'_>, cells: &[Option<Vec<String>>]) {
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let texts = cell.as_deref().unwrap_or_default();
        if texts.is_empty() {
            definition.push(i16::from(cell.is_some()));
            repetition.push(0);
        }
        for (index, text) in texts.iter().enumerate() {
            values.push(ByteArray::from(text.as_str()));
            definition.push(3);
            repetition.push(i16::from(index > 0));
        }
    }
    let column = column.typed::<ByteArrayType>();
    column
        .write_batch(&values, Some(&definition), Some(&repetition))
        .unwrap();
}

/// The bytes of a Parquet file with these columns, in row groups of at most `group` rows.
pub fn file(columns: &[(&str, Cells)], group: usize) -> Vec<u8> {
    let fields: String = columns
        .iter()
        .map(|(name, cells)| cells.field(name))
        .collect();
    let schema = Arc::new(parse_message_type(&format!("message jobs {{ {fields} }}")).unwrap());
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    for start in (0..rows).step_by(group) {
        let rows = start..rows.min(start + group);
        let mut group = writer.next_row_group().unwrap();
        for (_, cells) in columns {
            let mut column = group.next_column().unwrap().unwrap();
            cells.write(&mut column, rows.clone());
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}
