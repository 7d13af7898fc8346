//! Writes tables from Python to files that the library can read.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader,
    StringArray,
};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Schema};
use gleaner_io::files;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

use crate::errors::exception;

/// Writes a table as CSV. The table can come from any library that supports Arrow's stream protocol. Missing values are
/// empty cells. Times have the format `2026-01-31 08:00:00`. Times of columns with a time zone are in UTC and end in
/// `Z`. A column of 64-bit floats whose values are all integers is written without decimal points, because pandas
/// stores integers as floats if values are missing. Booleans are written as 1 and 0. The values of lists are separated
/// by `;`. If the table is an event log (`is_log`), a pandas index that contains the times of the log is written as the
/// first column. Other unnamed indices are left out.
///
/// # Errors
/// The value is not a table, its columns cannot be written as CSV, or the file cannot be written.
#[pyfunction]
#[pyo3(signature = (table, path, is_log = false))]
pub fn write_frame(table: &Bound<'_, PyAny>, path: PathBuf, is_log: bool) -> PyResult<()> {
    let py = table.py();
    let reader = table.extract::<PyRecordBatchReader>();
    let reader = reader.map_err(|error| not_a_table(&error.value(py).to_string()))?;
    let reader = reader.into_reader()?;
    let schema = reader.schema();
    let batches = py.detach(|| reader.collect::<std::result::Result<Vec<_>, _>>());
    let batches = batches.map_err(|error| unreadable(&schema, &error))?;
    let columns = columns(&schema, is_log);
    let written = py.detach(|| files::write(&path, |out| write(&schema, &columns, &batches, out)));
    written.map_err(|error| exception(py, error))
}

fn not_a_table(error: &str) -> PyErr {
    PyValueError::new_err(format!("expected a table with named columns: {error}"))
}

/// The error for a table that cannot be read. The usual cause is an empty polars column without a type.
fn unreadable(schema: &Schema, error: &ArrowError) -> PyErr {
    let untyped = schema
        .fields()
        .iter()
        .filter(|field| field.data_type().is_null());
    let names: Vec<&str> = untyped.map(|field| field.name().as_str()).collect();
    PyValueError::new_err(if names.is_empty() {
        format!("the table cannot be read as an Arrow table: {error}")
    } else {
        format!(
            "these columns have no type, because they have no values: {}; give them a type, such \
             as polars.String, or leave them out",
            names.join(", ")
        )
    })
}

/// The name that pyarrow gives to an unnamed pandas index.
const INDEX: &str = "__index_level_0__";

/// The indices of the columns to write, in the order in which they are written. pyarrow puts the pandas index after the
/// columns.
fn columns(schema: &Schema, is_log: bool) -> Vec<usize> {
    let at = |name: &str| schema.index_of(name).ok();
    let mut columns: Vec<usize> = (0..schema.fields().len()).collect();
    let is_long = at("node").is_some();
    if is_log && !is_long {
        // The log has a column for each node, so the column of times, which may be the index, must come first.
        let time = at("time").or_else(|| at(INDEX)).or_else(|| index(schema));
        if let Some(time) = time {
            columns.retain(|column| *column != time);
            columns.insert(0, time);
        }
    }
    let is_needed = |column: &usize| schema.field(*column).name() != INDEX;
    let first = columns.first().copied();
    columns.retain(|column| is_needed(column) || (is_log && !is_long && Some(*column) == first));
    columns
}

/// The column of the pandas index, if there is only one index and it has a name, as in these metadata:
/// `{"index_columns": ["when"], …}`.
fn index(schema: &Schema) -> Option<usize> {
    let pandas: serde_json::Value = serde_json::from_str(schema.metadata().get("pandas")?).ok()?;
    match pandas.get("index_columns")?.as_array()?.as_slice() {
        [serde_json::Value::String(name)] => schema.index_of(name).ok(),
        _ => None,
    }
}

/// The formats in which times are written as text. Times of columns with a time zone are in UTC.
pub fn formats() -> FormatOptions<'static> {
    FormatOptions::new()
        .with_timestamp_format(Some("%Y-%m-%d %H:%M:%S%.f"))
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.fZ"))
        .with_datetime_format(Some("%Y-%m-%d %H:%M:%S%.f"))
}

fn write(
    schema: &Schema,
    columns: &[usize],
    batches: &[RecordBatch],
    out: impl Write,
) -> std::io::Result<()> {
    let options = formats();
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(columns.iter().map(|column| schema.field(*column).name()))?;
    for batch in batches {
        let columns = columns.iter().map(|column| plain(batch.column(*column)));
        let columns: Vec<_> = columns
            .collect::<std::result::Result<_, _>>()
            .map_err(std::io::Error::other)?;
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

/// Prepares a column for CSV: applies [`whole`] to its values, and joins the values of each list with `;`.
fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let lists: ArrayRef = match column.data_type() {
        DataType::List(_) => Arc::clone(column),
        DataType::LargeList(of) | DataType::FixedSizeList(of, _) => {
            cast(column, &DataType::List(Arc::clone(of)))?
        }
        _ => return Ok(whole(column)),
    };
    let Some(lists) = lists.as_list_opt::<i32>() else {
        return Ok(whole(column));
    };
    let options = FormatOptions::new();
    let texts = lists
        .iter()
        .map(|list| -> Result<Option<String>, ArrowError> {
            let Some(list) = list else {
                return Ok(None);
            };
            let values = whole(&list);
            let values = ArrayFormatter::try_new(values.as_ref(), &options)?;
            let texts = (0..list.len()).map(|at| values.value(at).try_to_string());
            let texts = texts.collect::<Result<Vec<_>, _>>()?;
            Ok(Some(texts.join(";")))
        });
    let texts = texts.collect::<Result<StringArray, ArrowError>>()?;
    Ok(Arc::new(texts))
}

/// Converts a column of floats with integer values to integers, and Booleans to 1 and 0. Other columns are unchanged.
fn whole(column: &ArrayRef) -> ArrayRef {
    /// Floats represent every integer up to this number exactly.
    const EXACT: f64 = (1_u64 << 53) as f64;
    if let Some(truths) = column.as_any().downcast_ref::<BooleanArray>() {
        let values = truths.iter().map(|value| value.map(i64::from));
        return Arc::new(values.collect::<Int64Array>());
    }
    let Some(floats) = column.as_any().downcast_ref::<Float64Array>() else {
        return Arc::clone(column);
    };
    let is_whole = |value: f64| value.fract() == 0.0 && value.abs() <= EXACT;
    // pandas represents missing values as NaN.
    let mut given = floats.iter().flatten();
    if given.all(|value| value.is_nan() || is_whole(value)) {
        let values = floats.iter();
        let values = values.map(|value| value.filter(|value| !value.is_nan()));
        Arc::new(
            values
                .map(|value| Some(value? as i64))
                .collect::<Int64Array>(),
        )
    } else {
        Arc::clone(column)
    }
}
