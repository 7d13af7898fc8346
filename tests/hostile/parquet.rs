//! Tests forged Parquet files, which could make a reader allocate as much memory as they declare, or recurse as deeply
//! as they are nested.

use std::fs;
use std::path::Path;

use crate::support::{Attack, attack, samples};

const INTEGER: u8 = 5;
const LONG: u8 = 6;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct in Thrift's compact protocol.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(mut self, id: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = id;
        self
    }

    fn int(self, id: u8, value: i64) -> Self {
        self.field(id, INTEGER, &zigzag(value))
    }

    fn long(self, id: u8, value: i64) -> Self {
        self.field(id, LONG, &zigzag(value))
    }

    fn text(self, id: u8, text: &str) -> Self {
        self.field(id, TEXT, &string(text))
    }

    fn structure(self, id: u8, value: Thrift) -> Self {
        self.field(id, STRUCT, &value.end())
    }

    fn list(self, id: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        let mut value = vec![0xf0 | kind];
        value.extend(varint(elements.len() as u64));
        value.extend(elements.concat());
        self.field(id, LIST, &value)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    varint(value as u64 * 2)
}

fn string(text: &str) -> Vec<u8> {
    [varint(text.len() as u64), text.as_bytes().to_vec()].concat()
}

/// A Parquet file with the given pages, schema, number of rows and row groups.
fn file(pages: &[u8], schema: &[Vec<u8>], rows: i64, groups: &[Vec<u8>]) -> Vec<u8> {
    let footer = Thrift::default()
        .int(1, 1)
        .list(2, STRUCT, schema)
        .long(3, rows)
        .list(4, STRUCT, groups)
        .end();
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, &footer, &length, b"PAR1"].concat()
}

fn group(name: &str, children: i64) -> Vec<u8> {
    Thrift::default().text(4, name).int(5, children).end()
}

/// The schema element of a required column of 64-bit integers.
fn column(name: &str) -> Vec<u8> {
    Thrift::default().int(1, 2).int(3, 0).text(4, name).end()
}

/// A file of one row. Its dictionary contains one value, but the dictionary's header declares `values` values.
fn dictionary(values: i64) -> Vec<u8> {
    let page = |kind, length, id, content| {
        let header = Thrift::default().int(1, kind).int(2, length).int(3, length);
        header.structure(id, content).end()
    };
    let dictionary = Thrift::default().int(1, values).int(2, 0);
    let mut pages = page(2, 8, 7, dictionary);
    pages.extend(7i64.to_le_bytes());
    let data = 4 + pages.len() as i64;
    let content = Thrift::default().int(1, 1).int(2, 8).int(3, 3).int(4, 3);
    pages.extend(page(0, 3, 5, content));
    // The indices are one bit wide, and consist of a run with the single index 0.
    pages.extend([1, 2, 0]);
    let length = pages.len() as i64;
    let metadata = Thrift::default()
        .int(1, 2)
        .list(2, INTEGER, &[zigzag(0), zigzag(8)])
        .list(3, TEXT, &[string("time")])
        .int(4, 0)
        .long(5, 1)
        .long(6, length)
        .long(7, length)
        .long(9, data)
        .long(11, 4);
    let chunk = Thrift::default().long(2, 4).structure(3, metadata).end();
    let group_of_rows = Thrift::default()
        .list(1, STRUCT, &[chunk])
        .long(2, length)
        .long(3, 1)
        .end();
    file(
        &pages,
        &[group("schema", 1), column("time")],
        1,
        &[group_of_rows],
    )
}

fn inspect(at: &Path, bytes: &[u8]) -> Attack {
    fs::write(at.join("forged.parquet"), bytes).unwrap();
    attack(at, "inspect forged.parquet")
}

// The attack: a dictionary of 8 bytes made the reader allocate 16 GB for its values.
#[test]
fn the_stated_size_of_a_dictionary_is_checked() {
    let directory = samples();
    let at = directory.path();
    let sound = inspect(at, &dictionary(1));
    assert!(!sound.err.contains("dictionary"), "{}", sound.err);
    assert!(!sound.err.contains("valid Parquet"), "{}", sound.err);
    let found = inspect(at, &dictionary(2_000_000_000));
    assert_eq!(found.code, 3, "{}", found.err);
    let part = "a dictionary of 8 bytes that declares 2000000000 values";
    assert!(found.err.contains(part), "{}", found.err);
}

// The attack: a deeply nested schema of one megabyte. The reader recurses at every level of nesting.
#[test]
fn an_endlessly_nested_schema_is_refused() {
    let directory = samples();
    let mut schema = vec![group("a", 1); 200_000];
    schema.push(column("time"));
    let found = inspect(directory.path(), &file(&[], &schema, 0, &[]));
    assert_eq!(found.code, 3, "{}", found.err);
    assert!(found.err.contains("a damaged schema"), "{}", found.err);
}
