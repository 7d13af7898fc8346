//! Result tables as frames.

use gleaner_domain::Local;
use gleaner_domain::results::{Column, Table};
use polars::prelude::{Column as FrameColumn, DataFrame};

use crate::{Error, Result};

/// Converts a table to a frame that has the same columns, with the same names and in the same order.
///
/// | column of the table | type in the frame |
/// |---|---|
/// | `Times`, `EveryTime` | `Int64`: nanoseconds since 1970 on the log's clock |
/// | `Fixed`, `Floats`, `PythonFloats`, `RepeatedFloats` | `Float64` |
/// | `Integers`, `RepeatedIntegers` | `UInt64` |
/// | `Whole`, `Spaced`, `OptionalWhole` | `Int64` |
/// | `Texts`, `Names`, `RepeatedNames` | `String` |
///
/// Missing values are null. NaNs in `RepeatedFloats` columns, which CSV files show as empty cells, are null too.
///
/// # Errors
/// [`Error::Name`] if a column of names has an index for which there is no name. [`Error::Polars`] if two columns have
/// the same name, or if the columns differ in length.
pub fn frame(table: &Table<'_>) -> Result<DataFrame> {
    let columns = table.columns.iter();
    let columns = columns.map(|(name, column)| convert(name, column));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    Ok(DataFrame::new_infer_height(columns)?)
}

fn convert(name: &str, column: &Column<'_>) -> Result<FrameColumn> {
    let nanos = |time: &Local| time.0;
    let named = name.into();
    Ok(match column {
        Column::Times(times) => {
            let times = times.iter().map(|time| time.as_ref().map(nanos));
            FrameColumn::new(named, times.collect::<Vec<_>>())
        }
        Column::EveryTime(times) => {
            FrameColumn::new(named, times.iter().map(nanos).collect::<Vec<_>>())
        }
        Column::Fixed(values) => FrameColumn::new(named, values),
        Column::Floats(values) | Column::PythonFloats(values) => FrameColumn::new(named, values),
        Column::Integers(values) => FrameColumn::new(named, values),
        Column::Whole(values) => FrameColumn::new(named, values),
        Column::Spaced(values) => FrameColumn::new(named, values.iter().collect::<Vec<_>>()),
        Column::OptionalWhole(values) => FrameColumn::new(named, values),
        Column::Texts(texts) => {
            let texts = texts.iter().map(|text| &**text);
            FrameColumn::new(named, texts.collect::<Vec<_>>())
        }
        Column::Names { names, indices } => {
            let indices = indices.iter().copied();
            FrameColumn::new(named, named_by(name, names, indices)?)
        }
        Column::RepeatedFloats(runs) => {
            let values = runs
                .values()
                .map(|value| (!value.is_nan()).then_some(*value));
            FrameColumn::new(named, values.collect::<Vec<_>>())
        }
        Column::RepeatedIntegers(runs) => {
            let values = runs.values().copied();
            FrameColumn::new(named, values.collect::<Vec<_>>())
        }
        Column::RepeatedNames { names, indices } => {
            let indices = indices.values().copied();
            FrameColumn::new(named, named_by(name, names, indices)?)
        }
    })
}

/// For each row of a column of indices, the name with that index.
fn named_by<'a>(
    column: &str,
    names: &[&'a str],
    indices: impl Iterator<Item = u32>,
) -> Result<Vec<&'a str>> {
    let name = |index: u32| {
        let name = names.get(index as usize).copied();
        name.ok_or_else(|| Error::Name {
            column: column.to_owned(),
            index,
            names: names.len(),
        })
    };
    indices.map(name).collect()
}
