//! Rows of result tables: structs whose fields are the columns of a table.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Column;
use crate::Utc;

/// A column of a table, or a value of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name in files.
    pub name: &'static str,
    /// The unit; empty if the values have no unit.
    pub unit: &'static str,
    /// The meaning in words.
    pub meaning: &'static str,
}

impl Field {
    /// Creates a column from its name, unit and meaning.
    pub const fn new(name: &'static str, unit: &'static str, meaning: &'static str) -> Self {
        Field {
            name,
            unit,
            meaning,
        }
    }
}

/// A type whose values are rows of a table. It defines how the rows are written and read. The macro
/// `record!` declares such types.
pub trait Record: Sized {
    /// Names, units and meanings of the columns, in order.
    const FIELDS: &'static [Field];

    /// Converts rows to columns, in the order of the fields.
    fn columns(rows: &[Self]) -> Vec<Column<'_>>;

    /// Reads a row.
    ///
    /// # Errors
    /// A cell is invalid for its column. The error describes the first such cell.
    fn read<C: Cells>(cells: &C) -> Result<Self, C::Fault>;
}

/// The cells of a row that is being read. A cell is identified by its column index.
pub trait Cells {
    /// A description of what is wrong with a cell.
    type Fault;

    /// Whether the cell is empty.
    fn is_missing(&self, column: usize) -> bool;

    /// The cell as a time.
    ///
    /// # Errors
    /// The cell does not hold a time.
    fn time(&self, column: usize) -> Result<Utc, Self::Fault>;

    /// The cell as a finite number.
    ///
    /// # Errors
    /// The cell does not hold a finite number.
    fn number(&self, column: usize) -> Result<f64, Self::Fault>;

    /// The cell as a whole number in the range.
    ///
    /// # Errors
    /// The cell does not hold a whole number in the range.
    fn whole(&self, column: usize, range: RangeInclusive<i64>) -> Result<i64, Self::Fault>;

    /// The cell as a string.
    ///
    /// # Errors
    /// The cell does not hold a string.
    fn text(&self, column: usize) -> Result<Cow<'_, str>, Self::Fault>;

    /// Describes the fault of a cell that does not hold the expected value.
    fn fault(&self, column: usize, expected: String) -> Self::Fault;
}

/// An encoding of the values of a type as cells of a column.
pub trait Encoding<T> {
    /// Converts values to a column.
    fn column<'a>(values: impl Iterator<Item = &'a T>) -> Column<'a>
    where
        T: 'a;

    /// Reads a value.
    ///
    /// # Errors
    /// The cell does not hold a value of this type.
    fn read<C: Cells>(cells: &C, column: usize) -> Result<T, C::Fault>;
}

/// A type with a few values, each of which has a name in tables.
pub trait Named: Copy + 'static {
    /// All values.
    const ALL: &'static [Self];

    /// The name of this value.
    fn name(self) -> &'static str;
}

/// The default encoding of a type.
#[derive(Debug)]
pub enum Plain {}

/// Numbers with six decimals, formatted like `%f` in C or Python.
#[derive(Debug)]
pub enum Fixed {}

/// Numbers, with an empty cell for infinity.
#[derive(Debug)]
pub enum Finite {}

/// Strings that may be empty. Empty cells are read as empty strings.
#[derive(Debug)]
pub enum OrEmpty {}

/// Ids: a column of whole numbers if every id is a whole number in its usual form (`7`, not `07` or `+7`); otherwise, a
/// column of strings.
#[derive(Debug)]
pub enum Ids {}

impl Encoding<Utc> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Utc>) -> Column<'a> {
        Column::EveryTime(values.map(|time| time.at_offset(0)).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Utc, C::Fault> {
        cells.time(column)
    }
}

impl Encoding<Option<Utc>> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Option<Utc>>) -> Column<'a> {
        Column::Times(
            values
                .map(|time| time.map(|time| time.at_offset(0)))
                .collect(),
        )
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Option<Utc>, C::Fault> {
        given(cells, column, C::time)
    }
}

impl Encoding<f64> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a f64>) -> Column<'a> {
        Column::Floats(values.copied().map(Some).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<f64, C::Fault> {
        cells.number(column)
    }
}

impl Encoding<Option<f64>> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Option<f64>>) -> Column<'a> {
        Column::Floats(values.copied().collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Option<f64>, C::Fault> {
        given(cells, column, C::number)
    }
}

impl Encoding<f64> for Fixed {
    fn column<'a>(values: impl Iterator<Item = &'a f64>) -> Column<'a> {
        Column::Fixed(values.copied().collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<f64, C::Fault> {
        cells.number(column)
    }
}

impl Encoding<f64> for Finite {
    fn column<'a>(values: impl Iterator<Item = &'a f64>) -> Column<'a> {
        let finite = |value: &f64| value.is_finite().then_some(*value);
        Column::Floats(values.map(finite).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<f64, C::Fault> {
        Ok(given(cells, column, C::number)?.unwrap_or(f64::INFINITY))
    }
}

macro_rules! counts {
    ($($type:ty),+) => {$(
        impl Encoding<$type> for Plain {
            fn column<'a>(values: impl Iterator<Item = &'a $type>) -> Column<'a> {
                Column::Integers(values.map(|&value| value as u64).collect())
            }

            fn read<C: Cells>(cells: &C, column: usize) -> Result<$type, C::Fault> {
                let most = i64::try_from(<$type>::MAX).unwrap_or(i64::MAX);
                Ok(cells.whole(column, 0..=most)? as $type)
            }
        }
    )+};
}

counts!(u32, u64, usize);

/// Seconds. When values are read, their range is limited so that a sum of four of them cannot overflow.
impl Encoding<i64> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a i64>) -> Column<'a> {
        Column::Whole(values.copied().collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<i64, C::Fault> {
        cells.whole(column, i64::MIN / 4..=i64::MAX / 4)
    }
}

impl Encoding<Option<i64>> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Option<i64>>) -> Column<'a> {
        Column::OptionalWhole(values.copied().collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Option<i64>, C::Fault> {
        given(cells, column, <Plain as Encoding<i64>>::read)
    }
}

impl Encoding<Option<u32>> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Option<u32>>) -> Column<'a> {
        Column::OptionalWhole(values.map(|value| value.map(i64::from)).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Option<u32>, C::Fault> {
        given(cells, column, <Plain as Encoding<u32>>::read)
    }
}

/// 1 for true, 0 for false.
impl Encoding<bool> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a bool>) -> Column<'a> {
        Column::Integers(values.map(|&value| value.into()).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<bool, C::Fault> {
        Ok(cells.whole(column, 0..=1)? == 1)
    }
}

impl Encoding<String> for Ids {
    fn column<'a>(values: impl Iterator<Item = &'a String>) -> Column<'a> {
        let texts: Vec<&str> = values.map(String::as_str).collect();
        let numbers = texts.iter().map(|text| {
            let number: i64 = text.parse().ok()?;
            (number.to_string() == **text).then_some(number)
        });
        match numbers.collect() {
            Some(numbers) => Column::Whole(numbers),
            None => Column::Texts(texts.into_iter().map(Cow::Borrowed).collect()),
        }
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<String, C::Fault> {
        Ok(cells.text(column)?.into_owned())
    }
}

impl Encoding<String> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a String>) -> Column<'a> {
        Column::Texts(values.map(|text| text.as_str().into()).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<String, C::Fault> {
        Ok(cells.text(column)?.into_owned())
    }
}

impl Encoding<String> for OrEmpty {
    fn column<'a>(values: impl Iterator<Item = &'a String>) -> Column<'a> {
        Plain::column(values)
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<String, C::Fault> {
        let text = given(cells, column, <Plain as Encoding<String>>::read)?;
        Ok(text.unwrap_or_default())
    }
}

/// Strings with only a few distinct values.
impl Encoding<Arc<str>> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a Arc<str>>) -> Column<'a> {
        let (mut names, mut places) = (Vec::new(), BTreeMap::new());
        let indices = values.map(|name| {
            *places.entry(&**name).or_insert_with(|| {
                names.push(&**name);
                names.len() as u32 - 1
            })
        });
        let indices = indices.collect();
        Column::Names { names, indices }
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<Arc<str>, C::Fault> {
        Ok(cells.text(column)?.into())
    }
}

impl<T: Named> Encoding<T> for Plain {
    fn column<'a>(values: impl Iterator<Item = &'a T>) -> Column<'a>
    where
        T: 'a,
    {
        Column::Texts(values.map(|value| value.name().into()).collect())
    }

    fn read<C: Cells>(cells: &C, column: usize) -> Result<T, C::Fault> {
        let text = cells.text(column)?;
        let mut all = T::ALL.iter().copied();
        all.find(|value| value.name() == text).ok_or_else(|| {
            let names: Vec<&str> = T::ALL.iter().map(|value| value.name()).collect();
            cells.fault(column, format!("one of {}", names.join(", ")))
        })
    }
}

/// The value of a cell; `None` if it is empty.
fn given<C: Cells, T>(
    cells: &C,
    column: usize,
    read: impl Fn(&C, usize) -> Result<T, C::Fault>,
) -> Result<Option<T>, C::Fault> {
    if cells.is_missing(column) {
        Ok(None)
    } else {
        read(cells, column).map(Some)
    }
}

/// Declares a row: a struct whose fields, in order, are the columns. Each field is written as a doc
/// comment, which documents the column, followed by `field: type = "column" ["unit"]`. An
/// [`Encoding`] other than [`Plain`] follows the type, for example `rate: f64 as Fixed`.
macro_rules! record {
    (
        $(#[$attribute:meta])*
        pub struct $Row:ident {
            $($(#[doc = $meaning:literal])+
            $field:ident: $type:ty $(as $encoding:ident)? = $name:literal [$unit:literal],)+
        }
    ) => {
        $(#[$attribute])*
        pub struct $Row {
            $($(#[doc = $meaning])+ pub $field: $type,)+
        }

        impl $crate::results::Record for $Row {
            const FIELDS: &'static [$crate::results::Field] = &[$($crate::results::Field {
                name: $name,
                unit: $unit,
                meaning: concat!($($meaning),+),
            }),+];

            fn columns(rows: &[Self]) -> Vec<$crate::results::Column<'_>> {
                vec![$(
                    <encoding!($($encoding)?) as $crate::results::Encoding<$type>>::column(
                        rows.iter().map(|row| &row.$field),
                    )
                ),+]
            }

            fn read<C: $crate::results::Cells>(cells: &C) -> Result<Self, C::Fault> {
                let mut columns = 0..;
                let mut next = || columns.next().unwrap_or_default();
                Ok($Row {
                    $($field: <encoding!($($encoding)?) as $crate::results::Encoding<$type>>::read(
                        cells,
                        next(),
                    )?,)+
                })
            }
        }
    };
}

/// The encoding that a field of `record!` specifies.
macro_rules! encoding {
    () => {
        $crate::results::Plain
    };
    ($encoding:ident) => {
        $crate::results::$encoding
    };
}
