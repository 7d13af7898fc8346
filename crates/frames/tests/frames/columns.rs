use gleaner_domain::Local;
use gleaner_domain::results::{Column, RunLengths, Spaced, Table};
use gleaner_frames::polars::prelude::DataFrame;
use gleaner_frames::{Error, Result, frame};
use proptest::prelude::*;

use crate::support::{counts, floats, names, texts, wholes};

fn of(column: Column<'_>) -> Result<DataFrame> {
    frame(&Table {
        name: "table",
        columns: vec![("x", column)],
    })
}

fn some<T: Clone>(values: &[T]) -> Vec<Option<T>> {
    values.iter().cloned().map(Some).collect()
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    #[test]
    fn numbers_are_those_of_the_column(
        whole: Vec<i64>,
        optional_whole: Vec<Option<i64>>,
        count: Vec<u64>,
        float in prop::collection::vec(-1e300..1e300, 0..20),
        runs in prop::collection::vec((0..3u64, 0..4u32), 0..9),
    ) {
        let x = |column| of(column).unwrap();
        let times = whole.iter().map(|&nanos| Local(nanos));
        prop_assert_eq!(wholes(&x(Column::EveryTime(times.collect())), "x"), some(&whole));
        let times = optional_whole.iter().map(|nanos| nanos.map(Local));
        prop_assert_eq!(wholes(&x(Column::Times(times.collect())), "x"), optional_whole.clone());
        prop_assert_eq!(wholes(&x(Column::Whole(whole.clone())), "x"), some(&whole));
        prop_assert_eq!(wholes(&x(Column::OptionalWhole(optional_whole.clone())), "x"), optional_whole.clone());
        prop_assert_eq!(counts(&x(Column::Integers(count.clone())), "x"), some(&count));
        prop_assert_eq!(floats(&x(Column::Fixed(float.clone())), "x"), some(&float));
        let optional: Vec<_> = float.iter().map(|&value| (value > 0.0).then_some(value)).collect();
        prop_assert_eq!(floats(&x(Column::Floats(optional.clone())), "x"), optional.clone());
        prop_assert_eq!(floats(&x(Column::PythonFloats(optional.clone())), "x"), optional);
        let lengths: RunLengths<u64> = runs.iter().copied().collect();
        let rows = runs.iter().flat_map(|&(value, rows)| vec![value; rows as usize]);
        let rows: Vec<u64> = rows.collect();
        prop_assert_eq!(counts(&x(Column::RepeatedIntegers(lengths)), "x"), some(&rows));
        let as_float = |value: u64| if value == 0 { f64::NAN } else { value as f64 };
        let lengths = runs.iter().map(|&(value, rows)| (as_float(value), rows));
        let expected = rows.iter().map(|&value| (value != 0).then_some(value as f64));
        let expected: Vec<Option<f64>> = expected.collect();
        prop_assert_eq!(floats(&x(Column::RepeatedFloats(lengths.collect())), "x"), expected);
        let indices = runs.iter().map(|&(value, rows)| (value as u32, rows));
        let repeated = Column::RepeatedNames { names: vec!["a", "b", "c"], indices: indices.collect() };
        let named = rows.iter().map(|&value| ["a", "b", "c"][value as usize].to_owned());
        let named: Vec<String> = named.collect();
        prop_assert_eq!(texts(&x(repeated), "x"), some(&named));
        let indices = rows.iter().map(|&value| value as u32).collect();
        let names = Column::Names { names: vec!["a", "b", "c"], indices };
        prop_assert_eq!(texts(&x(names), "x"), some(&named));
    }

    #[test]
    fn texts_are_those_of_the_column(text: Vec<String>) {
        let column = Column::Texts(text.iter().map(|text| text.into()).collect());
        prop_assert_eq!(texts(&of(column).unwrap(), "x"), some(&text));
    }
}

// Three numbers that start at 0 and increase by 60, then the single number 7.
#[test]
fn evenly_spaced_numbers_are_expanded() {
    let spaced = Column::Spaced(Spaced::new(60, [(0, 3), (7, 1)]));
    assert_eq!(
        wholes(&of(spaced).unwrap(), "x"),
        some(&[0_i64, 60, 120, 7])
    );
}

#[test]
fn columns_keep_their_names_and_their_order() {
    let columns = vec![
        ("b", Column::Whole(vec![1])),
        ("a", Column::Fixed(vec![2.0])),
    ];
    let name = "table";
    assert_eq!(names(&frame(&Table { name, columns }).unwrap()), ["b", "a"]);
    let columns = Vec::new();
    assert_eq!(frame(&Table { name, columns }).unwrap().shape(), (0, 0));
}

#[test]
fn inconsistent_columns_are_errors() {
    let names = vec!["a"];
    let indices = vec![0, 1];
    let message = of(Column::Names { names, indices })
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("found index 1, but only 1 names"),
        "{message}"
    );
    for second in [("x", vec![1]), ("y", vec![1, 2])] {
        let columns = vec![
            ("x", Column::Whole(vec![1])),
            (second.0, Column::Whole(second.1)),
        ];
        let name = "table";
        let error = frame(&Table { name, columns }).unwrap_err();
        assert!(matches!(error, Error::Polars(_)), "{error}");
    }
}
