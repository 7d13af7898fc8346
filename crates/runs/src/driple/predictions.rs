//! The predicted resource consumption of jobs: one row per job.

use std::path::Path;

use gleaner_driple::dataset::METRIC_NAMES;
use gleaner_driple::graph::METRICS;
use serde_json::{Map, Value, json};

use gleaner_document::{Grid, Head};
use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table};
use gleaner_io::table::WriteTable;

/// The name of a job and its metrics, in the order of [`METRIC_NAMES`].
pub type Row = (String, [f64; METRICS]);

/// Writes the table as CSV or Parquet, depending on the path's extension.
///
/// # Errors
/// The extension is neither .csv nor .parquet, or the file cannot be written.
pub fn write(rows: &[Row], path: &Path) -> Result<()> {
    let jobs = rows.iter().map(|(job, _)| job.as_str().into());
    let mut columns = vec![("job", Column::Texts(jobs.collect()))];
    for (metric, name) in METRIC_NAMES.into_iter().enumerate() {
        let values = rows.iter().map(|(_, metrics)| Some(metrics[metric]));
        columns.push((name, Column::Floats(values.collect())));
    }
    let name = "predictions";
    Table { name, columns }.write_file(path)
}

/// The rows as JSON: a list of objects with `job` and the metrics by name.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(rows: &[Row]) -> Result<String> {
    let object = |(job, metrics): &Row| {
        let mut object = Map::from_iter([("job".to_owned(), json!(job))]);
        let named = METRIC_NAMES.into_iter().zip(metrics);
        object.extend(named.map(|(name, value)| (name.to_owned(), json!(value))));
        Value::Object(object)
    };
    let rows: Vec<Value> = rows.iter().map(object).collect();
    crate::pretty::json(&rows)
}

/// The predictions as a table with a row for each metric and a column for each job.
pub fn grid(rows: &[Row]) -> Grid {
    let jobs = rows.iter().map(|(job, _)| Head::number(job));
    let heads = std::iter::once(Head::text("metric")).chain(jobs);
    Grid::of(
        "",
        heads,
        METRIC_NAMES.into_iter().enumerate(),
        |(metric, name)| {
            let cells = rows.iter().map(|(_, metrics)| number(metrics[metric]));
            std::iter::once(name.to_owned())
                .chain(cells)
                .collect::<Vec<_>>()
        },
    )
}

/// A number with about four significant digits; `-` if it is not finite.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        size if size >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}
