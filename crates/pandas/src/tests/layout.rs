//! Tests layouts that do not occur in the fixtures, with pickles assembled by
//! hand.

use super::super::{BlockData, Frame};
use super::super::{Cell, Labels, Order, PickleError, Problem, read_frame};
use super::asm::*;

fn read(bytes: &[u8]) -> Frame<'_> {
    read_frame(bytes).unwrap()
}

fn refusal(bytes: &[u8]) -> PickleError {
    read_frame(bytes).unwrap_err()
}

fn names(names: &[&str]) -> Vec<u8> {
    let names: Vec<_> = names.iter().map(|name| text(name)).collect();
    index(&names)
}

/// An array of two columns and three rows.
fn two_by_three(fortran: bool) -> Vec<u8> {
    let shape = tuple(&[int(2), int(3)]);
    array(shape, dtype("i1", "|"), fortran, bytes(&[1, 2, 3, 4, 5, 6]))
}

#[test]
fn the_order_flag_transposes_the_matrix() {
    let placement = slice(0, 2, 1);
    let columns = frame(
        names(&["a", "b"]),
        range(0, 3, 1),
        &[block(two_by_three(false), placement.clone())],
    );
    assert_eq!(read(&columns).column_i64("b").unwrap(), [4, 5, 6]);
    let rows = frame(
        names(&["a", "b"]),
        range(0, 3, 1),
        &[block(two_by_three(true), placement)],
    );
    let frame = read(&rows);
    assert_eq!(frame.column_i64("b").unwrap(), [2, 4, 6]);
    let BlockData::Numbers(matrix) = frame.blocks()[0].data() else {
        panic!("no matrix");
    };
    assert_eq!(matrix.order(), Order::Rows);
    assert_eq!(matrix.row_bytes(1), Some(&[3, 4][..]));
}

#[test]
fn objects_keep_their_order_under_either_flag() {
    let members = [int(1), int(2), int(3), int(4)];
    let shape = tuple(&[int(2), int(2)]);
    let cells = array(shape, dtype("O8", "|"), true, list(&members));
    let file = frame(
        names(&["a", "b"]),
        range(0, 2, 1),
        &[block(cells, slice(0, 2, 1))],
    );
    assert_eq!(read(&file).column_i64("b").unwrap(), [3, 4]);
}

#[test]
fn places_columns_by_slices_and_arrays() {
    let positions = |positions: &[i64]| {
        let data: Vec<u8> = positions.iter().flat_map(|p| p.to_le_bytes()).collect();
        let shape = tuple(&[int(positions.len() as i32)]);
        array(shape, dtype("i8", "<"), false, bytes(&data))
    };
    let open_slice = call(class("builtins", "slice"), &[int(1), none(), int(-1)]);
    for (placement, expected) in [
        (slice(0, 3, 2), [0, 2]),
        (slice(2, -1, -2), [2, 0]),
        (slice(1, 3, 1), [1, 2]),
        (open_slice, [1, 0]),
        (positions(&[2, 0]), [2, 0]),
    ] {
        let other = 3 - (expected[0] + expected[1]) as i32;
        let one = block(bytes_matrix(1, 3, &[7, 8, 9]), slice(other, other + 1, 1));
        let two = block(two_by_three(false), placement);
        let file = frame(names(&["a", "b", "c"]), range(0, 3, 1), &[two, one]);
        let frame = read(&file);
        assert_eq!(frame.blocks()[0].columns(), expected);
        let name = &frame.columns()[expected[1]];
        assert_eq!(frame.column_i64(name).unwrap(), [4, 5, 6]);
    }
}

#[test]
fn refuses_invalid_placements() {
    let with = |placement| {
        let two = block(two_by_three(false), placement);
        frame(names(&["a", "b"]), range(0, 3, 1), &[two])
    };
    for placement in [
        slice(0, 2, 0),
        slice(0, i32::MAX, 1),
        slice(-2, 0, 1),
        slice(1, -3, -1),
        call(class("builtins", "slice"), &[none(), int(2), int(1)]),
        call(class("builtins", "slice"), &[int(2)]),
        objects(&[2], &[int(0), int(1)]),
        list(&[int(0), int(1)]),
    ] {
        refusal(&with(placement));
    }
}

#[test]
fn every_column_is_in_exactly_one_block() {
    let three = || bytes_matrix(1, 3, &[7, 8, 9]);
    let with = |blocks: &[Vec<u8>]| frame(names(&["a", "b"]), range(0, 3, 1), blocks);
    let first = block(three(), slice(0, 1, 1));
    let second = block(three(), slice(1, 2, 1));
    assert!(read_frame(&with(&[first.clone(), second])).is_ok());
    let twice = refusal(&with(&[first.clone(), first.clone()])).to_string();
    assert!(twice.contains("two blocks"), "{twice}");
    let missing = refusal(&with(&[first])).to_string();
    assert!(missing.contains("in no block"), "{missing}");
    let outside = refusal(&with(&[block(three(), slice(5, 6, 1))])).to_string();
    assert!(outside.contains("outside the table"), "{outside}");
    let long = refusal(&with(&[block(three(), slice(0, 2, 1))])).to_string();
    assert!(long.contains("1 columns and 3 rows"), "{long}");
}

#[test]
fn reads_bytes_of_protocol_2() {
    let values = |data: Vec<u8>| {
        let shape = tuple(&[int(1), int(3)]);
        let values = array(shape, dtype("i1", "|"), false, data);
        frame(
            names(&["a"]),
            range(0, 3, 1),
            &[block(values, slice(0, 1, 1))],
        )
    };
    let file = values(encoded("\u{1}\u{0}\u{ff}", "latin1"));
    assert_eq!(read(&file).column_i64("a").unwrap(), [1, 0, -1]);
    let wrapped = call(
        class("builtins", "bytearray"),
        &[encoded("\u{1}\u{2}\u{3}", "latin1")],
    );
    assert_eq!(read(&values(wrapped)).column_i64("a").unwrap(), [1, 2, 3]);
    refusal(&values(encoded("\u{1}\u{0}\u{100}", "latin1")));
    refusal(&values(encoded("\u{1}\u{0}\u{1}", "hex")));
    refusal(&values(int(3)));
}

#[test]
fn names_columns_by_integers() {
    let file = frame(
        range(10, 12, 1),
        range(0, 3, 1),
        &[block(two_by_three(false), slice(0, 2, 1))],
    );
    assert_eq!(read(&file).columns(), ["10", "11"]);
    let mixed = index(&[text("a"), float(0.5)]);
    let file = frame(
        mixed,
        range(0, 3, 1),
        &[block(two_by_three(false), slice(0, 2, 1))],
    );
    assert!(
        refusal(&file)
            .to_string()
            .contains("columns whose names are")
    );
}

#[test]
fn reads_every_kind_of_row_label() {
    let labels = |labels: Vec<u8>| {
        let data = bytes_matrix(1, 2, &[0, 0]);
        frame(names(&["a"]), labels, &[block(data, slice(0, 1, 1))])
    };
    let numeric = |code, data: &[u8]| {
        index_of(array(
            tuple(&[int(2)]),
            dtype(code, "<"),
            false,
            bytes(data),
        ))
    };
    let file = labels(range(3, -1, -2));
    let expected = Labels::Range {
        start: 3,
        step: -2,
        len: 2,
    };
    assert_eq!(read(&file).index(), &expected);
    let file = labels(numeric("i2", &[5, 0, 255, 255]));
    assert_eq!(read(&file).index(), &Labels::Ints(vec![5, -1]));
    let floats = [0.5_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat();
    let file = labels(numeric("f8", &floats));
    assert_eq!(read(&file).index(), &Labels::Floats(vec![0.5, 2.0]));
    let file = labels(index(&[text("x"), int(1)]));
    let mixed = read(&file);
    assert_eq!(mixed.index().describe(), "mixed objects");
    assert!(mixed.index_strings().is_err());
    let file = labels(numeric("u8", &[255; 16]));
    assert!(refusal(&file).to_string().contains("below 2^63"));
}

#[test]
fn refuses_item_types_by_name() {
    for (code, order, shown) in [("i4", ">", ">i4"), ("c16", "<", "<c16"), ("m8", "<", "<m8")] {
        let values = array(
            tuple(&[int(1), int(1)]),
            dtype(code, order),
            false,
            bytes(&[0; 4]),
        );
        let file = frame(
            names(&["a"]),
            range(0, 1, 1),
            &[block(values, slice(0, 1, 1))],
        );
        let problem = refusal(&file).problem;
        assert_eq!(
            problem,
            Problem::ItemType {
                found: shown.into()
            }
        );
    }
}

#[test]
fn times_beyond_nanoseconds_are_named() {
    let stamp = |seconds| {
        let class = class("pandas._libs.tslibs.timestamps", "_unpickle_timestamp");
        let cell = call(class, &[long(seconds), none(), none(), int(7)]);
        let cells = objects(&[1, 1], &[cell]);
        frame(
            names(&["t"]),
            range(0, 1, 1),
            &[block(cells, slice(0, 1, 1))],
        )
    };
    let file = stamp(1_612_915_732);
    let expected = [1_612_915_732_000_000_000];
    assert_eq!(read(&file).column_datetimes_ns("t").unwrap(), expected);
    let problem = refusal(&stamp(1 << 40)).problem;
    assert!(matches!(problem, Problem::TimeRange { .. }), "{problem}");
}

#[test]
fn reads_python_datetimes() {
    let packed = bytes(&[7, 229, 2, 10, 0, 8, 52, 0, 0, 7]);
    let naive = call(class("datetime", "datetime"), std::slice::from_ref(&packed));
    let utc = call(class("pytz", "_UTC"), &[]);
    let zoned = call(class("datetime", "datetime"), &[packed, utc]);
    let cells = objects(&[1, 2], &[naive, zoned]);
    let file = frame(
        names(&["t"]),
        range(0, 2, 1),
        &[block(cells, slice(0, 1, 1))],
    );
    let frame = read(&file);
    let cell = frame.cell(0, 0).unwrap().into_owned();
    assert_eq!(cell, Cell::DatetimeNs(1_612_915_732_000_007_000));
    let error = frame.column_datetimes_ns("t").unwrap_err().to_string();
    assert!(error.contains("a datetime with a time zone"), "{error}");
}

#[test]
fn a_series_is_a_table_of_one_column() {
    let series = |name: Vec<u8>| {
        let values = array(tuple(&[int(2)]), dtype("i1", "|"), false, bytes(&[3, 4]));
        let block = dict(&[("values", values), ("mgr_locs", slice(0, 2, 1))]);
        let layout = dict(&[
            ("axes", list(&[range(0, 2, 1)])),
            ("blocks", list(&[block])),
        ]);
        let manager = object(
            class("pandas.core.internals.managers", "SingleBlockManager"),
            tuple(&[list(&[]), list(&[]), list(&[]), dict(&[("0.14.1", layout)])]),
        );
        let state = dict(&[("_mgr", manager), ("_name", name)]);
        pickle(&object(class("pandas.core.series", "Series"), state))
    };
    let named = series(text("speed"));
    assert_eq!(read(&named).column_i64("speed").unwrap(), [3, 4]);
    assert_eq!(read(&series(none())).columns(), ["0"]);
    assert_eq!(read(&series(int(7))).columns(), ["7"]);
    refusal(&series(list(&[])));
}
