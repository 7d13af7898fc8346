//! Tests that the reader returns the values that pandas wrote to the fixtures.

use super::super::{BlockData, Cell, Frame, ItemType, Labels, NAT, read_frame};
use super::{CURVES, EVENTS, MIXED, TASKS};

/// 2021-02-10 00:08:52 in nanoseconds since 1970.
const START: i64 = 1_612_915_732_000_000_000;
const SECOND: i64 = 1_000_000_000;

fn read(name: &str, bytes: &'static [u8]) -> Frame<'static> {
    read_frame(bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn reads_event_logs_of_every_release() {
    for (name, bytes) in EVENTS {
        let frame = read(name, bytes);
        assert_eq!(frame.columns(), ["c05n06", "a02n02", "b07n02"], "{name}");
        let times = [0, 10, 0, 86_400].map(|seconds| START + seconds * SECOND);
        let mut times = times.to_vec();
        times[2] = START + 3_068_500_000_000;
        assert_eq!(*frame.index_datetimes_ns().unwrap(), times, "{name}");
        let states = [[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]];
        for (column, expected) in frame.columns().iter().zip(states) {
            let found = frame.column_i64(column).unwrap();
            assert_eq!(found, expected, "{name}: {column}");
        }
    }
}

#[test]
fn event_logs_are_one_borrowed_matrix() {
    for (name, bytes) in EVENTS {
        let frame = read(name, bytes);
        let [block] = frame.blocks() else {
            panic!("{name}: {} blocks", frame.blocks().len());
        };
        assert_eq!(block.columns(), [0, 1, 2], "{name}");
        let BlockData::Numbers(matrix) = block.data() else {
            panic!("{name}: no matrix");
        };
        assert_eq!(matrix.item(), ItemType::I8, "{name}");
        assert_eq!((matrix.columns(), matrix.rows()), (3, 4), "{name}");
        assert!(
            bytes.as_ptr_range().contains(&matrix.bytes().as_ptr()),
            "{name}: the matrix was copied"
        );
    }
}

#[test]
fn reads_tasks_of_every_release() {
    for (name, bytes) in TASKS {
        let frame = read(name, bytes);
        assert_eq!(
            frame.index_strings().unwrap(),
            ["J00000", "J00001"],
            "{name}"
        );
        assert_eq!(frame.column_f64("Tcup").unwrap(), [20.0, 30.5], "{name}");
        assert_eq!(frame.column_f64("Tcdw").unwrap(), [5.0, 7.25], "{name}");
        assert_eq!(frame.column_i64("Jmin").unwrap(), [1, 2], "{name}");
        assert_eq!(frame.column_i64("Jmax").unwrap(), [64, 32], "{name}");
        assert_eq!(frame.column_f64("Pmax").unwrap(), [1.5e9, 2.5e8], "{name}");
        let submitted = [START, START + 600 * SECOND];
        assert_eq!(
            frame.column_datetimes_ns("Tsub").unwrap(),
            submitted,
            "{name}"
        );
    }
}

#[test]
fn reads_curves_of_every_release() {
    for (name, bytes) in CURVES {
        let frame = read(name, bytes);
        assert_eq!(
            frame.index_strings().unwrap(),
            ["J00000", "J00001"],
            "{name}"
        );
        let lists = |column| {
            let lists = frame.column_lists(column).unwrap();
            lists.iter().map(|list| list.to_vec()).collect::<Vec<_>>()
        };
        let nodes = vec![0.0, 1.0, 2.0, 4.0];
        assert_eq!(lists("Ns"), [nodes.clone(), nodes], "{name}");
        let progress = [[0.0, 2831.0, 5259.0, 9988.0], [0.0, 10.5, 20.0, 30.0]];
        assert_eq!(lists("Ps"), progress, "{name}");
        let objective = [[0.0, 1.0, 1.857, 3.5], [0.0, 1.0, 1.5, 2.0]];
        assert_eq!(lists("Os"), objective, "{name}");
    }
}

#[test]
fn reads_every_kind_of_column() {
    for (name, bytes) in MIXED {
        let frame = read(name, bytes);
        let times = [START, START + 10 * SECOND, START + 20 * SECOND];
        assert_eq!(
            frame.index(),
            &Labels::DatetimesNs(times.to_vec()),
            "{name}"
        );
        assert_eq!(frame.column_i64("bool").unwrap(), [1, 0, 1], "{name}");
        assert_eq!(frame.column_i64("u2").unwrap(), [0, 1, 65_535], "{name}");
        let floats = frame.column_f64("f4").unwrap();
        assert_eq!(floats[..2], [0.5, -1.25], "{name}");
        assert!(floats[2].is_nan(), "{name}");
        let integers = [-1, 0, i64::from(i32::MAX)];
        assert_eq!(frame.column_i64("i4").unwrap(), integers, "{name}");
        let times = [START, NAT, START];
        assert_eq!(frame.column_datetimes_ns("time").unwrap(), times, "{name}");
    }
}

#[test]
fn reads_objects_one_by_one() {
    for (name, bytes) in MIXED {
        let frame = read(name, bytes);
        let cell = |column, row| {
            let position = frame.position(column).unwrap();
            frame.cell(position, row).unwrap().into_owned()
        };
        assert_eq!(cell("text", 0), Cell::Text("x".into()), "{name}");
        assert_eq!(
            cell("text", 2),
            Cell::Text("\u{fc}\u{4e2d}".into()),
            "{name}"
        );
        // A missing value is None up to pandas 2, and NaN since pandas 3.
        let missing = cell("text", 1);
        assert!(
            missing.as_f64().is_some_and(f64::is_nan),
            "{name}: {missing:?}"
        );
        assert_eq!(cell("object", 0), Cell::Float(1.5), "{name}");
        assert_eq!(cell("object", 1), Cell::DatetimeNs(START), "{name}");
        let list = Cell::Numbers([1.0, 2.5].into());
        assert_eq!(cell("object", 2), list, "{name}");
    }
}

#[test]
fn reports_what_a_column_holds_instead() {
    let (name, bytes) = TASKS[0];
    let frame = read(name, bytes);
    let error = frame.column_f64("Tsub").unwrap_err().to_string();
    assert!(
        error.contains("\"Tsub\"") && error.contains("row 0"),
        "{error}"
    );
    let error = frame.column_lists("Jmin").unwrap_err().to_string();
    assert!(
        error.contains("expected a list of numbers, found the integer 1"),
        "{error}"
    );
    let error = frame.column_f64("Jmni").unwrap_err().to_string();
    assert!(error.contains("6: Tcup, Tcdw, Jmin"), "{error}");
    let error = frame.index_datetimes_ns().unwrap_err().to_string();
    assert!(
        error.contains("holds strings") && error.contains("pd.to_datetime"),
        "{error}"
    );
}
