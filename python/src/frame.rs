//! Tables that Python gives, as files that the readers read.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, Schema};
use gleaner_core::files;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use crate::errors::exception;

/// Writes a table of any library with Arrow's stream protocol as CSV. Missing values are empty cells, times
/// are as in `2026-01-31 08:00:00`, those of columns with a zone in UTC with `Z`. Floats that are whole have no
/// point: pandas keeps integers as floats where some are missing. Truth values are 1 and 0.
///
/// # Errors
/// The table is not one of plain columns, or the file cannot be written.
#[pyfunction]
pub fn write_frame(table: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<()> {
    let py = table.py();
    let reader = table.extract::<PyRecordBatchReader>();
    let reader = reader.map_err(|error| not_a_table(&error.value(py).to_string()))?;
    let reader = reader.into_reader()?;
    let schema = reader.schema();
    let batches = py.detach(|| reader.collect::<std::result::Result<Vec<_>, _>>());
    let batches = batches.map_err(|error| unreadable(&schema, &error))?;
    let written = py.detach(|| files::write(&path, |out| write(&schema, &batches, out)));
    written.map_err(|error| exception(py, error))
}

fn not_a_table(error: &str) -> PyErr {
    PyValueError::new_err(format!("expected a table of columns with names: {error}"))
}

/// Empty columns of polars without a type are not as Arrow wants them.
fn unreadable(schema: &Schema, error: &ArrowError) -> PyErr {
    let untyped = schema
        .fields()
        .iter()
        .filter(|field| field.data_type().is_null());
    let names: Vec<&str> = untyped.map(|field| field.name().as_str()).collect();
    PyValueError::new_err(match names.is_empty() {
        true => format!("the table cannot be read as one of Arrow: {error}"),
        false => format!(
            "these columns have no type, as they have no values: {}; give them one, such as polars.String, or leave them out",
            names.join(", ")
        ),
    })
}

fn write(schema: &Schema, batches: &[RecordBatch], out: impl Write) -> std::io::Result<()> {
    let options = FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.fZ"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"));
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(schema.fields().iter().map(|field| field.name()))?;
    for batch in batches {
        let columns: Vec<_> = batch.columns().iter().map(whole).collect();
        let columns = columns.iter();
        let columns = columns.map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let columns = columns
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(std::io::Error::other)?;
        for row in 0..batch.num_rows() {
            for column in &columns {
                let text = column.value(row).try_to_string();
                csv.write_field(text.map_err(std::io::Error::other)?)?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
    }
    csv.flush()
}

/// A column of floats as one of integers, if all of them are whole; truth values as 1 and 0.
fn whole(column: &ArrayRef) -> ArrayRef {
    /// Above it, not every integer is a float.
    const EXACT: f64 = (1_u64 << 53) as f64;
    if let Some(truths) = column.as_any().downcast_ref::<BooleanArray>() {
        let values = truths.iter().map(|value| value.map(i64::from));
        return Arc::new(values.collect::<Int64Array>());
    }
    let Some(floats) = column.as_any().downcast_ref::<Float64Array>() else {
        return Arc::clone(column);
    };
    let is_whole = |value: f64| value.fract() == 0.0 && value.abs() <= EXACT;
    // pandas has NaN for missing values.
    match floats
        .iter()
        .flatten()
        .all(|value| value.is_nan() || is_whole(value))
    {
        true => {
            let values = floats.iter();
            let values = values.map(|value| value.filter(|value| !value.is_nan()));
            Arc::new(
                values
                    .map(|value| Some(value? as i64))
                    .collect::<Int64Array>(),
            )
        }
        false => Arc::clone(column),
    }
}
