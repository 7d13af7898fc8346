//! Fits the explainable boosting machine on the throughput task, and prints one line of JSON per
//! label with the time and the errors. Usage: `fit FEATURES.csv TRAINING_ROWS RUNS [MAX_BINS]`.
//! `RAYON_NUM_THREADS` sets the number of threads.
//!
//! The table is `throughput_features.csv` from the reference data. Its columns are the time, two labels and the
//! features.

use std::error::Error;
use std::time::Instant;

use gleaner_learn::ebm::{Ebm, Settings};
use gleaner_learn::lucid::throughput;
use gleaner_learn::{Column, Table, metrics};

/// Number of columns before the features: the time and two labels.
const TIME_AND_LABELS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, train, runs, bins @ ..] = arguments.as_slice() else {
        return Err("usage: fit FEATURES.csv TRAINING_ROWS RUNS [MAX_BINS]".into());
    };
    let (train, runs): (usize, usize) = (train.parse()?, runs.parse()?);
    let mut settings = throughput::settings(0);
    if let Some(bins) = bins.first() {
        settings.max_bins = bins.parse()?;
    }
    let (names, columns) = read(file)?;
    for label in 1..TIME_AND_LABELS {
        let features = names.iter().cloned().zip(columns.iter().cloned());
        let features = features.skip(TIME_AND_LABELS);
        let features = features.map(|(name, values)| (name, Column::Numeric(values)));
        let table = Table::new(features.collect())?;
        let result = measure(&table, &columns[label], train, runs, &settings)?;
        println!("{{\"label\": \"{}\", {result}}}", names[label]);
    }
    Ok(())
}

/// The names and the values of the columns.
type Sheet = (Vec<String>, Vec<Vec<f64>>);

/// Reads a table. The values of the first column, the time, are not read.
fn read(file: &str) -> Result<Sheet, Box<dyn Error>> {
    let mut reader = csv::Reader::from_path(file)?;
    let names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for record in reader.records() {
        for (column, cell) in columns.iter_mut().zip(&record?).skip(1) {
            column.push(cell.parse()?);
        }
    }
    Ok((names, columns))
}

/// Measures the time of the fastest of `runs` fits, in seconds, and the errors on the rows after
/// the first `train` rows. Returns the members of a JSON object.
fn measure(
    table: &Table,
    labels: &[f64],
    train: usize,
    runs: usize,
    settings: &Settings,
) -> Result<String, Box<dyn Error>> {
    let rows = |range: std::ops::Range<usize>| table.take(&range.collect::<Vec<_>>());
    let (known, unknown) = (rows(0..train), rows(train..table.rows()));
    let mut quickest = f64::INFINITY;
    let mut predicted = Vec::new();
    for _ in 0..runs {
        let clock = Instant::now();
        let machine = Ebm::fit(&known, &labels[..train], settings)?;
        quickest = quickest.min(clock.elapsed().as_secs_f64());
        predicted = machine.predict(&unknown)?;
    }
    let error = metrics::mean_absolute_error(&labels[train..], &predicted);
    let explained = metrics::r_squared(&labels[train..], &predicted);
    Ok(format!(
        "\"seconds\": {quickest}, \"mae\": {error}, \"r2\": {explained}"
    ))
}
