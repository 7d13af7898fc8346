//! Compares the features of the throughput model with those of the published notebook.
use gleaner_learn::Column;
use gleaner_learn::lucid::throughput::{FEATURES, LEAD, Row, Series, features, rows};
use jiff::civil::DateTime;
use proptest::prelude::*;

use crate::support::Sheet;

fn start() -> DateTime {
    "2020-04-01 00:00:00".parse().unwrap()
}

fn row(series: &Series, step: usize) -> Option<Row> {
    rows(series, step..step + 1).first().copied()
}

// Golden values: the features that pandas computed and printed with ten digits.
#[test]
fn all_features_of_venus_are_those_of_the_notebook() {
    let Some(sheet) = Sheet::shared("models/throughput_features.csv") else {
        return;
    };
    let series = Series::new(
        start(),
        sheet.numbers("submit_gpu_job"),
        sheet.numbers("submit_gpu_num"),
    )
    .unwrap();
    let table = features(&series);
    assert_eq!(
        (table.rows(), table.names()),
        (26_064, &FEATURES.map(str::to_owned)[..])
    );
    for (name, column) in table.names().iter().zip(table.columns()) {
        let Column::Numeric(values) = column else {
            panic!("{name} is not numeric");
        };
        for (step, (value, expected)) in values.iter().zip(sheet.numbers(name)).enumerate() {
            let near = (value - expected).abs() <= 1e-9 * expected.abs().max(1.0);
            assert!(near, "{name} of row {step}: {value}, expected {expected}");
        }
    }
    let september = "2020-09-01 00:00".parse().unwrap();
    assert_eq!(series.steps_before(september), 22_032);
    let last = sheet.texts("time")[26_063].parse().unwrap();
    assert_eq!(series.time(26_063), last);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    /// A row depends neither on its own interval nor on the [`LEAD`] − 1 intervals before it, and
    /// does not change when the series is extended.
    #[test]
    fn later_values_change_no_earlier_row(
        values in proptest::collection::vec((0u32..50, 0u32..400), 1..200),
        cut in 0.0..1.0f64,
        other in 1000.0..2000.0f64,
    ) {
        let (jobs, gpus): (Vec<_>, Vec<_>) = values.iter().map(|(j, g)| (f64::from(*j), f64::from(*g))).unzip();
        let known = (cut * jobs.len() as f64) as usize;
        let full = Series::new(start(), jobs.clone(), gpus.clone()).unwrap();
        let past = Series::new(start(), jobs[..known].to_vec(), gpus[..known].to_vec()).unwrap();
        let mut changed = past.clone();
        for _ in known..jobs.len() {
            changed.push(other, other);
        }
        for step in 0..jobs.len().min(known + LEAD) {
            prop_assert_eq!(row(&past, step), row(&full, step));
            prop_assert_eq!(row(&changed, step), row(&full, step));
        }
        // The first row that is allowed to change does change, because its soft average uses the
        // changed interval.
        if known + LEAD < jobs.len() && known + LEAD > 6 {
            prop_assert_ne!(row(&changed, known + LEAD), row(&full, known + LEAD));
        }
    }
}
