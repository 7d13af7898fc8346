//! Tests that small CSV and Parquet tables are read correctly, and that faults in them give the
//! right messages.

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::source::Source;
use crate::table::WriteTable;
use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table as Output};
use gleaner_domain::{Local, Stamp};

/// An input with this content, and the temporary directory that contains it.
fn source(name: &str, content: &[u8]) -> (TempDir, Source) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let source = Source::open(&path).unwrap();
    (folder, source)
}

/// For each row, the cell of the column as parsed by `read`, or the message of its fault.
fn column<T>(
    source: &Source,
    name: &str,
    read: impl Fn(Cell<'_>) -> CellResult<T>,
) -> Vec<Result<T, String>> {
    let mut header = Header::open(source).unwrap();
    let col = header.require(&[name], "it").unwrap();
    let mut values = Vec::new();
    let table = header.finish().unwrap();
    table
        .visit(|row| {
            let value = row.and_then(|row| read(row.cell(col)));
            values.push(value.map_err(|fault| after_path(&fault.to_string())));
            Ok(())
        })
        .unwrap();
    values
}

/// A message without the path at its start.
fn after_path(message: &str) -> String {
    let cut = message.find("t.").map_or(0, |at| at);
    message[cut..].to_owned()
}

fn parquet() -> (TempDir, Source) {
    let time = Local::from_seconds(1_585_699_200);
    let table = Output {
        name: "t",
        columns: vec![
            ("count", Column::Integers(vec![97, 1])),
            ("float", Column::Floats(vec![Some(97.0), None])),
            ("text", Column::Texts(vec!["a b".into(), " ".into()])),
            ("time", Column::Times(vec![Some(time), None])),
        ],
    };
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    source("t.parquet", &bytes)
}

#[test]
fn columns_are_found_by_name_and_others_ignored() {
    let (_folder, source) = source(
        "t.csv",
        b"\xef\xbb\xbfx, b ,a\n1, two ,3\n\n4,\"fi,ve\",6\n",
    );
    let texts = column(&source, "b", |cell| cell.text().map(String::from));
    assert_eq!(texts, [Ok("two".to_owned()), Ok("fi,ve".to_owned())]);
    let numbers = column(&source, "x", |cell| cell.integer(0..=9));
    assert_eq!(numbers, [Ok(1), Ok(4)]);
}

#[test]
fn missing_and_repeated_columns_are_gathered() {
    let (_folder, source) = source("t.csv", b"a,b,b\n");
    let mut header = Header::open(&source).unwrap();
    header.require(&["c", "d"], "the colour").unwrap();
    header.require(&["b"], "it").unwrap();
    assert_eq!(header.optional(&["e"]).unwrap(), None);
    let message = header.finish().map(drop).unwrap_err().to_string();
    for part in [
        "header, c: found no such column among a, b, b, expected a column c or d; \
         add it, or rename the column that holds the colour to c",
        "header, b: found the column twice",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn faults_of_cells_name_line_and_column() {
    let (_folder, source) = source("t.csv", b"a,b\n1,2\n1\nx,\n");
    let integers = column(&source, "a", |cell| cell.integer(1..=5));
    let faults: Vec<_> = integers
        .into_iter()
        .skip(1)
        .map(Result::unwrap_err)
        .collect();
    assert_eq!(
        faults,
        [
            "t.csv, line 3: found 1 cells, expected 2, as in the header",
            "t.csv, line 4, a: found \"x\", expected a whole number from 1 to 5",
        ]
    );
    let missing = column(&source, "b", |cell| cell.float());
    let expected = "t.csv, line 4, b: found nothing, expected a finite number";
    assert_eq!(missing[2], Err(expected.to_owned()));
}

#[test]
fn parquet_cells_have_types() {
    let (_folder, source) = parquet();
    let counts = column(&source, "count", |cell| cell.id().map(String::from));
    assert_eq!(counts, [Ok("97".to_owned()), Ok("1".to_owned())]);
    let floats = column(&source, "float", |cell| cell.integer(0..=100));
    assert_eq!(floats[0], Ok(97));
    let expected = "t.parquet, row 1 (counting from 0), float: \
                    found nothing, expected a whole number from 0 to 100";
    assert_eq!(floats[1], Err(expected.to_owned()));
    let texts = column(&source, "text", |cell| cell.text().map(String::from));
    assert_eq!(texts[0], Ok("a b".to_owned()));
    assert!(texts[1].is_err());
    let times = column(&source, "time", |cell| cell.clock());
    let first = Local::from_seconds(1_585_699_200);
    assert_eq!(times[0], Ok(CellTime::Civil(Stamp::Local(first))));
    assert!(times[1].is_err());
}

#[test]
fn times_are_whole_seconds_or_civil() {
    let content = b"a\n13219203\n13219203.0\n2020-04-01 00:00:00\n13219203.5\nsoon\n";
    let (_folder, source) = source("t.csv", content);
    let times = column(&source, "a", |cell| cell.clock());
    assert_eq!(
        times[..2],
        [
            Ok(CellTime::Seconds(13_219_203)),
            Ok(CellTime::Seconds(13_219_203))
        ]
    );
    assert_eq!(
        times[2],
        Ok(CellTime::Civil(Stamp::Local(Local::from_seconds(
            1_585_699_200
        ))))
    );
    assert!(times[3].is_err() && times[4].is_err());
}

#[test]
fn ids_have_no_fraction() {
    let (_folder, source) = source("t.csv", b"a\n765472.0\n7.\n1.05\nj.0\n007\n");
    let ids = column(&source, "a", |cell| cell.id().map(String::from));
    let expected = ["765472", "7.", "1.05", "j.0", "007"].map(|id| Ok(id.to_owned()));
    assert_eq!(ids, expected);
}

#[test]
fn other_formats_and_empty_files_are_faults() {
    for (name, content, part) in [
        (
            "t.csv",
            &b""[..],
            "found an empty file, expected a header line",
        ),
        ("t.json", b"{}", "found JSON text, expected CSV or Parquet"),
        ("t.parquet", b"PAR1", "expected a valid Parquet file"),
    ] {
        let (_folder, source) = source(name, content);
        let message = Header::open(&source).map(drop).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}
