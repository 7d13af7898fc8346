//! Compares forecasts of the submissions to Venus with the reference table and with the errors of
//! the Python library `interpret`.

use std::time::Instant;

use gleaner_learn::ebm::{Ebm, Settings};
use gleaner_learn::{Column, Table, metrics};
use gleaner_testing::shared;

/// Number of rows from April to August, which are used for training. The rows of September are used
/// for testing.
const TRAIN: usize = 22_032;

fn read() -> Option<(Table, [Vec<f64>; 2])> {
    let file = shared("lucid/models/throughput_features.csv")?;
    let mut reader = csv::Reader::from_path(file).unwrap();
    let names: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let mut columns = vec![Vec::new(); names.len()];
    for record in reader.records() {
        for (column, cell) in columns.iter_mut().zip(&record.unwrap()).skip(1) {
            column.push(cell.parse::<f64>().unwrap());
        }
    }
    let labels = [columns[1].clone(), columns[2].clone()];
    let features = names.into_iter().zip(columns).skip(3);
    let features = features
        .map(|(name, values)| (name, Column::Numeric(values)))
        .collect();
    Some((Table::new(features).unwrap(), labels))
}

#[test]
fn test_errors_are_no_worse_than_those_of_interpret() {
    let Some((features, labels)) = read() else {
        return;
    };
    let rows = |range: std::ops::Range<usize>| features.take(&range.collect::<Vec<_>>());
    let (train, test) = (rows(0..TRAIN), rows(TRAIN..features.rows()));
    // The mean absolute errors of `interpret` are 4.11 and 48.45.
    for (labels, most, name) in [(&labels[0], 4.15, "jobs"), (&labels[1], 48.5, "GPUs")] {
        let clock = Instant::now();
        let machine = Ebm::fit(&train, &labels[..TRAIN], &Settings::default()).unwrap();
        let seconds = clock.elapsed().as_secs_f64();
        let predicted = machine.predict(&test).unwrap();
        let error = metrics::mean_absolute_error(&labels[TRAIN..], &predicted);
        let explained = metrics::r_squared(&labels[TRAIN..], &predicted);
        println!(
            "{name}: error {error:.3}, R² {explained:.3}, fitted in {seconds:.2} s, rounds {:?}",
            machine.rounds()
        );
        assert!(error <= most, "{name}: {error}");
    }
}
