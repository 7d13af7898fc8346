//! Reference tables, read from Parquet files by column.

use std::collections::BTreeMap;
use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::venus::path;

/// A table's columns by name.
pub struct Table(BTreeMap<String, Vec<Field>>);

impl Table {
    /// Reads a table in the folder `reference/`.
    pub fn read(name: &str) -> Table {
        let path = path(&format!("reference/{name}.parquet")).unwrap();
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let mut columns: BTreeMap<String, Vec<Field>> = BTreeMap::new();
        for row in reader.get_row_iter(None).unwrap() {
            for (name, field) in row.unwrap().into_columns() {
                columns.entry(name).or_default().push(field);
            }
        }
        Table(columns)
    }

    pub fn has(&self, column: &str) -> bool {
        self.0.contains_key(column)
    }

    pub fn floats(&self, column: &str) -> Vec<f64> {
        let float = |field: &Field| match field {
            Field::Long(number) => *number as f64,
            Field::Double(number) => *number,
            other => panic!("{column} is {other}"),
        };
        self.0[column].iter().map(float).collect()
    }

    /// A column of whole numbers. Some columns contain floats, because pandas stored their integers as floats.
    pub fn integers(&self, column: &str) -> Vec<i64> {
        let whole = |number: f64| {
            assert_eq!(number.fract(), 0.0, "{column}");
            number as i64
        };
        self.floats(column).into_iter().map(whole).collect()
    }

    pub fn texts(&self, column: &str) -> Vec<&str> {
        self.0[column].iter().map(text).collect()
    }
}

fn text(field: &Field) -> &str {
    match field {
        Field::Str(text) => text,
        other => panic!("{other} is not text"),
    }
}
