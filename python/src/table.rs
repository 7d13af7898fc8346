//! Result tables as Arrow tables.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray,
    TimestampNanosecondArray, UInt64Array,
};
use arrow_cast::display::ArrayFormatter;
use arrow_schema::{ArrowError, Field};
use gleaner_domain::Local;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::{Column, Table as ResultTable};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};

use crate::errors::exception;
use crate::frame::formats;

/// A result table. Any library that supports Arrow's stream protocol can use the table without copying its data:
/// `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`, `pyarrow.table(table)`. `to_polars`, `to_pandas` and
/// `to_arrow` import these libraries. `table["column"]` is a list of the column's values.
#[pyclass(frozen, module = "gleaner")]
pub struct Table {
    name: String,
    batch: RecordBatch,
}

impl Table {
    /// Converts a result table.
    ///
    /// # Errors
    /// The columns have different lengths, which indicates a bug in this program.
    pub fn of(table: &ResultTable<'_>) -> Result<Self> {
        let columns = table.columns.iter();
        Table::new(table.name, columns.map(|(name, column)| (*name, column)))
    }

    /// Creates a table from named columns.
    ///
    /// # Errors
    /// The same as for [`Table::of`].
    pub fn new<'c>(
        name: &str,
        columns: impl Iterator<Item = (&'c str, &'c Column<'c>)>,
    ) -> Result<Self> {
        let columns = columns.map(|(name, column)| Ok((name, array(column)?)));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        Table::of_arrays(name, columns)
    }
}

impl Table {
    /// Creates a table from arrays and their names.
    ///
    /// # Errors
    /// The same as for [`Table::of`].
    pub fn of_arrays(name: &str, columns: Vec<(&str, ArrayRef)>) -> Result<Self> {
        Ok(Table {
            name: name.to_owned(),
            batch: RecordBatch::try_from_iter(columns).map_err(failed)?,
        })
    }

    /// The rows of the table.
    pub fn rows(&self) -> &RecordBatch {
        &self.batch
    }
}

#[pymethods]
impl Table {
    /// Name of the table: the name of its files, without the extension.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        let names = schema.fields().iter().map(|field| field.name().clone());
        names.collect()
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!(
            "<gleaner.Table {}: {rows} rows, {columns} columns>",
            self.name
        )
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// The values of a column as a list. Times are nanoseconds since 1970-01-01 00:00:00.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(array) = self.batch.column_by_name(name) else {
            let known = self.columns().join(", ");
            let text = format!(
                "no column {name:?} in {}, expected one of {known}",
                self.name
            );
            return Err(pyo3::exceptions::PyKeyError::new_err(text));
        };
        values(py, array)
    }

    /// The same as `column`.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        self.column(py, name)
    }

    /// The table as a `pandas.DataFrame`. Requires pandas and pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "frames", "to_pandas")
    }

    /// The table as a `polars.DataFrame`. Requires polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "frames", "to_polars")
    }

    /// The table as a `pyarrow.Table`. Requires pyarrow.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "frames", "to_arrow")
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        convert(slf, "show", "preview")
    }

    /// The values of `count` rows as text, for display, starting at row `first`. Missing values are empty. Rows beyond
    /// the end are left out.
    fn _texts(&self, py: Python<'_>, first: usize, count: usize) -> PyResult<Vec<Vec<String>>> {
        let rows = self.batch.num_rows();
        let first = first.min(rows);
        let batch = self.batch.slice(first, count.min(rows - first));
        texts(&batch).map_err(|error| exception(py, failed(error)))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.batch.schema();
        let field = Field::new_struct("", schema.fields().clone(), false);
        let rows: ArrayRef = Arc::new(StructArray::from(self.batch.clone()));
        let stream = ArrayIterator::new([Ok(rows)], Arc::new(field));
        Ok(to_stream_pycapsule(py, Box::new(stream), requested_schema)?)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.batch.schema();
        Ok(pyo3_arrow::ffi::to_schema_pycapsule(py, schema.as_ref())?)
    }
}

/// Passes a table to a function in one of the package's modules.
fn convert<'py>(
    table: &Bound<'py, Table>,
    module: &str,
    function: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let module = table.py().import(format!("gleaner.{module}"))?;
    module.getattr(function)?.call1((table,))
}

/// The values of each row as text.
fn texts(batch: &RecordBatch) -> std::result::Result<Vec<Vec<String>>, ArrowError> {
    let options = formats();
    let columns = batch.columns().iter();
    let columns = columns.map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let row = |at: usize| {
        let texts = columns
            .iter()
            .map(|column| column.value(at).try_to_string());
        texts.collect()
    };
    (0..batch.num_rows()).map(row).collect()
}

/// The values of an array as a list.
fn values<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    macro_rules! fill {
        ($($kind:ty),*) => {
            $(if let Some(array) = array.as_any().downcast_ref::<$kind>() {
                for value in array.iter() {
                    list.append(value)?;
                }
            })*
        };
    }
    fill!(
        BooleanArray,
        Float64Array,
        Int64Array,
        UInt64Array,
        StringArray,
        TimestampNanosecondArray
    );
    Ok(list)
}

/// Converts an error of Arrow. Such an error indicates a bug in this program.
pub fn failed(error: ArrowError) -> Error {
    Error::Run(error.to_string())
}

/// A column as an array. NaNs in run-length-encoded columns are missing values, as in CSV.
fn array(column: &Column<'_>) -> Result<ArrayRef> {
    Ok(match column {
        Column::Times(times) => {
            let nanos = times.iter().map(|time| time.map(|Local(nanos)| nanos));
            Arc::new(nanos.collect::<TimestampNanosecondArray>())
        }
        Column::EveryTime(times) => {
            let nanos = times.iter().map(|Local(nanos)| *nanos);
            Arc::new(TimestampNanosecondArray::from_iter_values(nanos))
        }
        Column::Fixed(values) => Arc::new(Float64Array::from(values.clone())),
        Column::Floats(values) | Column::PythonFloats(values) => {
            Arc::new(Float64Array::from(values.clone()))
        }
        Column::Integers(values) => Arc::new(UInt64Array::from(values.clone())),
        Column::Whole(values) => Arc::new(Int64Array::from(values.clone())),
        Column::Spaced(values) => Arc::new(Int64Array::from_iter_values(values.iter())),
        Column::OptionalWhole(values) => Arc::new(Int64Array::from(values.clone())),
        Column::Texts(texts) => Arc::new(StringArray::from_iter_values(texts.iter())),
        Column::Names { names, indices } => named(names, indices.iter().copied())?,
        Column::RepeatedFloats(runs) => {
            let values = runs
                .values()
                .map(|value| (!value.is_nan()).then_some(*value));
            Arc::new(values.collect::<Float64Array>())
        }
        Column::RepeatedIntegers(runs) => {
            let values = runs.values().copied();
            Arc::new(UInt64Array::from_iter_values(values))
        }
        Column::RepeatedNames { names, indices } => named(names, indices.values().copied())?,
    })
}

/// A column of names, given as an index into `names` for each row.
fn named(names: &[&str], indices: impl Iterator<Item = u32>) -> Result<ArrayRef> {
    let name = |index: u32| {
        let name = names.get(index as usize).copied();
        name.ok_or_else(|| Error::Run(format!("index {index}, but only {} names", names.len())))
    };
    let texts = indices.map(name).collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StringArray::from(texts)))
}
