//! Builds tables from Python values and other tables.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use arrow_array::{UInt64Array, new_null_array};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use arrow_select::concat::concat;
use arrow_select::take::take;
use gleaner_domain::results::sweep::Replication;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::table::{Table, failed};

/// Creates a table from named columns of Booleans, integers, numbers or strings. `None` marks a missing value.
///
/// # Errors
/// A column has values of other types, or columns have different lengths.
#[pyfunction]
pub fn table_of(
    py: Python<'_>,
    name: &str,
    columns: Vec<(String, Vec<Bound<'_, PyAny>>)>,
) -> PyResult<Table> {
    let arrays = columns.iter().map(|(name, values)| {
        let array = array(values);
        let array = array.map_err(|_| mixed(name))?;
        Ok((name.as_str(), array))
    });
    let arrays = arrays.collect::<PyResult<Vec<_>>>()?;
    Table::of_arrays(name, arrays).map_err(|error| exception(py, error))
}

/// Stacks tables. Row `i` of `front` is repeated in front of every row of the `i`th table. For example, suppose that
/// the column `t_fwd` of `front` contains 30 and 60, and that the two tables have 2 rows and 1 row. In the result, this
/// column contains 30, 30 and 60. If a table lacks a column of another table, its values in this column are missing. No
/// column of `front` may have the name of a column of a table.
///
/// # Errors
/// `front` does not have a row for each table.
#[pyfunction]
pub fn stack_tables(
    py: Python<'_>,
    name: &str,
    front: PyRef<'_, Table>,
    tables: Vec<PyRef<'_, Table>>,
) -> PyResult<Table> {
    if front.rows().num_rows() != tables.len() {
        let text = "`front` must have a row for each table";
        return Err(PyValueError::new_err(text));
    }
    let tables: Vec<&Table> = tables.iter().map(|table| &**table).collect();
    let stacked = stacked(&front, &tables);
    let columns = stacked.map_err(|error| exception(py, failed(error)))?;
    let columns = columns.iter();
    let columns = columns.map(|(name, array)| (name.as_str(), Arc::clone(array)));
    Table::of_arrays(name, columns.collect()).map_err(|error| exception(py, error))
}

/// The error for a column with values of several types.
fn mixed(name: &str) -> PyErr {
    let expected = "expected only Booleans, only numbers or only strings";
    PyValueError::new_err(format!("{name}: found values of several types, {expected}"))
}

/// The values of a column as an array of the first type that fits all of them.
fn array(values: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    /// The values converted to this type; `None` if a value has another type.
    fn all<'py, T: for<'a> FromPyObject<'a, 'py>>(
        values: &[Bound<'py, PyAny>],
    ) -> Option<Vec<Option<T>>> {
        let values = values.iter().map(|value| value.extract::<Option<T>>().ok());
        values.collect()
    }
    // A column without values becomes numeric, because figures are numeric.
    let is_empty = values.iter().all(|value| value.is_none());
    if is_empty {
        return Ok(Arc::new(Float64Array::new_null(values.len())));
    }
    // True is also an integer in Python, so Booleans come first.
    if let Some(truths) = all::<bool>(values) {
        return Ok(Arc::new(BooleanArray::from(truths)));
    }
    if let Some(whole) = all::<i64>(values) {
        return Ok(Arc::new(Int64Array::from(whole)));
    }
    if let Some(numbers) = all::<f64>(values) {
        return Ok(Arc::new(Float64Array::from(numbers)));
    }
    let texts = values.iter().map(|value| value.extract::<Option<String>>());
    let texts = texts.collect::<PyResult<Vec<_>>>()?;
    Ok(Arc::new(StringArray::from(texts)))
}

type Columns = Vec<(String, ArrayRef)>;

fn stacked(front: &Table, tables: &[&Table]) -> Result<Columns, ArrowError> {
    let lengths = tables.iter().map(|table| table.rows().num_rows());
    let rows = (0_u64..).zip(lengths);
    let rows = rows.flat_map(|(row, length)| std::iter::repeat_n(row, length));
    let rows = UInt64Array::from_iter_values(rows);
    let schema = front.rows().schema();
    let fields = schema.fields().iter().zip(front.rows().columns());
    let repeated =
        fields.map(|(field, array)| Ok((field.name().clone(), take(array, &rows, None)?)));
    let mut columns = repeated.collect::<Result<Columns, ArrowError>>()?;
    for name in names(tables) {
        let array = joined(&name, tables)?;
        columns.push((name, array));
    }
    Ok(columns)
}

/// The names of the columns of all tables, in the order of their first appearance.
fn names(tables: &[&Table]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for table in tables {
        let schema = table.rows().schema();
        for field in schema.fields() {
            if !names.contains(field.name()) {
                names.push(field.name().clone());
            }
        }
    }
    names
}

/// The column `name` of all tables, one below the other.
fn joined(name: &str, tables: &[&Table]) -> Result<ArrayRef, ArrowError> {
    let found = tables.iter().map(|table| table.rows().column_by_name(name));
    let types = found.flatten().map(|array| array.data_type());
    let kind = types.reduce(common).cloned().unwrap_or(DataType::Float64);
    let part = |table: &&Table| match table.rows().column_by_name(name) {
        Some(array) => cast(array, &kind),
        None => Ok(new_null_array(&kind, table.rows().num_rows())),
    };
    let parts = tables.iter().map(part).collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&dyn Array> = parts.iter().map(|part| part.as_ref()).collect();
    concat(&parts)
}

/// The common type of two columns: their own type if it is the same, floats if both are numeric, and text otherwise.
fn common<'t>(one: &'t DataType, other: &'t DataType) -> &'t DataType {
    if one == other {
        one
    } else if one.is_numeric() && other.is_numeric() {
        &DataType::Float64
    } else {
        &DataType::Utf8
    }
}

/// The mean of values over repetitions, and the ends of its 95 % interval, which are None if there are too few
/// repetitions. Returns None if there are no values.
#[pyfunction]
pub fn spread(values: Vec<f64>, are_windows: bool) -> Option<(f64, Option<[f64; 2]>)> {
    let replication = if are_windows {
        Replication::Windows
    } else {
        Replication::Seeds
    };
    let spread = replication.spread(values.into_iter().map(Some))?;
    Some((spread.mean, spread.ends()))
}
