use gleaner_domain::results::{Column, Direction, Table};
use gleaner_frames::polars::prelude::DataFrame;
use gleaner_frames::{Error, aggregate, frame, join, pivot, rank};
use proptest::prelude::*;

use crate::support::{floats, names, wholes};

/// A frame with two key columns and a value column. Any cell may be missing.
type Row = (Option<i64>, Option<i64>, Option<f64>);

fn keyed(rows: &[Row]) -> DataFrame {
    let columns = vec![
        (
            "a",
            Column::OptionalWhole(rows.iter().map(|row| row.0).collect()),
        ),
        (
            "b",
            Column::OptionalWhole(rows.iter().map(|row| row.1).collect()),
        ),
        ("x", Column::Floats(rows.iter().map(|row| row.2).collect())),
    ];
    let name = "keyed";
    frame(&Table { name, columns }).unwrap()
}

fn drawn() -> impl Strategy<Value = Vec<Row>> {
    let key = || prop::option::of(0..3_i64);
    let row = (key(), key(), prop::option::of(-9.0..9.0));
    prop::collection::vec(row, 0..9)
}

fn is_repeated(rows: &[Row]) -> bool {
    let is_like = |row: &Row| {
        rows.iter()
            .filter(|other| (other.0, other.1) == (row.0, row.1))
            .count()
            > 1
    };
    rows.iter().any(is_like)
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    #[test]
    fn joined_rows_are_those_of_nested_loops(left in drawn(), right in drawn()) {
        let found = join(&keyed(&left), &keyed(&right), &["a", "b"]);
        if is_repeated(&right) {
            let is_refused = matches!(found, Err(Error::Repeated { .. }));
            prop_assert!(is_refused);
            return Ok(());
        }
        let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
        let pairs: Vec<_> = pairs.filter(|(l, r)| (l.0, l.1) == (r.0, r.1)).collect();
        let found = found.unwrap();
        prop_assert_eq!(names(&found), ["a", "b", "x", "x_right"]);
        prop_assert_eq!(wholes(&found, "a"), pairs.iter().map(|p| p.0.0).collect::<Vec<_>>());
        prop_assert_eq!(wholes(&found, "b"), pairs.iter().map(|p| p.0.1).collect::<Vec<_>>());
        prop_assert_eq!(floats(&found, "x"), pairs.iter().map(|p| p.0.2).collect::<Vec<_>>());
        prop_assert_eq!(floats(&found, "x_right"), pairs.iter().map(|p| p.1.2).collect::<Vec<_>>());
    }

    #[test]
    fn each_cell_of_a_pivot_is_its_row(rows in drawn()) {
        let found = pivot(&keyed(&rows), "a", "b", "x");
        if is_repeated(&rows) {
            let is_refused = matches!(found, Err(Error::Repeated { .. }));
            prop_assert!(is_refused);
            return Ok(());
        }
        let found = found.unwrap();
        let downs = wholes(&found, "a");
        let mut cells = 0;
        for across in names(&found).into_iter().skip(1) {
            for (down, cell) in downs.iter().zip(floats(&found, across)) {
                let is_row = |row: &&Row| row.0 == *down && label(row.1) == across;
                prop_assert_eq!(cell, rows.iter().find(is_row).and_then(|row| row.2));
                cells += rows.iter().filter(is_row).count();
            }
        }
        prop_assert_eq!(cells, rows.len());
    }

    #[test]
    fn a_rank_counts_the_better_rows(rows in drawn(), is_max: bool) {
        let best = if is_max { Direction::Max } else { Direction::Min };
        let found = rank(&keyed(&rows), "x", best).unwrap();
        let values = floats(&found, "x");
        let ranks = Vec::from(found.column("rank").unwrap().u32().unwrap());
        let is_better = |a: f64, b: f64| if is_max { a > b } else { a < b };
        for (value, rank) in values.iter().zip(&ranks) {
            let better = |value: f64| values.iter().flatten().filter(|v| is_better(**v, value)).count();
            prop_assert_eq!(rank.map(|rank| rank as usize), value.map(|value| better(value) + 1));
        }
        let given = ranks.iter().position(Option::is_none).unwrap_or(ranks.len());
        prop_assert!(ranks[given..].iter().all(Option::is_none));
        prop_assert!(ranks[..given].is_sorted());
    }
}

fn label(key: Option<i64>) -> String {
    key.map_or("null".to_owned(), |key| key.to_string())
}

#[test]
fn missing_columns_are_errors() {
    let frame = keyed(&[(Some(1), None, Some(2.0))]);
    let errors = [
        join(&frame, &frame, &["colour"]),
        pivot(&frame, "a", "colour", "x"),
        pivot(&frame, "a", "b", "colour"),
        rank(&frame, "colour", Direction::Max),
        aggregate(&frame, "colour", &["a"]),
        aggregate(&frame, "x", &["a", "a"]),
    ];
    for error in errors {
        assert!(matches!(error, Err(Error::Polars(_))), "{error:?}");
    }
}
