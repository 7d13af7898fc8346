//! Kinds of columns: the contents of their cells, and the conversion of cells to values.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use gleaner_solvers::range::short;

use gleaner_io::rows::{Cell, CellResult, CellTime};

/// A kind of column, which converts cells to values of type `T`.
pub trait Kind<T> {
    /// A description of the contents of the cells, for messages.
    fn holds(&self) -> String;

    /// Reads a cell.
    ///
    /// # Errors
    /// The cell is empty, or its content is invalid for this kind of column.
    fn read(&self, cell: &Cell<'_>) -> CellResult<T>;

    /// The value to use if the table lacks the column; `None` if the column is required.
    fn absent(&self) -> Option<T> {
        None
    }
}

/// Declares kinds without parameters: the type, its name in messages, and the method of [`Cell`] that reads it.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $Kind:ident: $type:ty, $holds:literal, $read:expr;)+) => {$(
        $(#[doc = $doc])+
        pub struct $Kind;

        impl Kind<$type> for $Kind {
            fn holds(&self) -> String {
                $holds.to_owned()
            }

            fn read(&self, cell: &Cell<'_>) -> CellResult<$type> {
                $read(cell).map(Into::into)
            }
        }
    )+};
}

kinds! {
    /// A string.
    Text: String, "a string", Cell::text;
    /// An identifier, read as text. A fractional part of zero is dropped: `3.0` becomes `3`.
    Id: String, "a string", Cell::id;
    /// A boolean: 0 or 1, `false` or `true`.
    Flag: bool, "0 or 1", Cell::flag;
    /// A time: whole seconds on the table's own clock, or a civil time.
    Clock: CellTime, "whole seconds, or a time such as 2020-04-01 00:00:00", Cell::clock;
    /// A number that is infinite or NaN if training diverged. An empty cell is NaN.
    Diverging: f64, "a number, or nan if training diverged", Cell::float_or_diverged;
}

/// A whole number in a range. The range must be within the range of the field's type.
pub struct Whole(pub RangeInclusive<i64>);

impl<T: TryFrom<i64>> Kind<T> for Whole {
    fn holds(&self) -> String {
        format!("a whole number from {} to {}", self.0.start(), self.0.end())
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<T> {
        let number = cell.integer(self.0.clone())?;
        T::try_from(number).map_err(|_| cell.fault(Kind::<T>::holds(self)))
    }
}

/// A finite number in a range.
pub struct Number {
    /// A description of the number for messages, such as `a speed`.
    pub what: &'static str,
    /// The valid values.
    pub range: RangeInclusive<f64>,
}

impl Number {
    /// Describes the number and its range for messages.
    pub fn words(&self) -> String {
        let (low, high) = (short(*self.range.start()), *self.range.end());
        match high {
            f64::INFINITY => self.what.to_owned(),
            f64::MAX => format!("{} of at least {low}", self.what),
            _ => format!("{} from {low} to {}", self.what, short(high)),
        }
    }
}

impl Kind<f64> for Number {
    fn holds(&self) -> String {
        self.words()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<f64> {
        let number = cell.float().ok();
        let number = number.filter(|number| self.range.contains(number));
        number.ok_or_else(|| cell.fault(self.holds()))
    }
}

/// One of several words, each of which represents a value.
pub struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy> Kind<T> for OneOf<T> {
    fn holds(&self) -> String {
        let words: Vec<&str> = self.0.iter().map(|(word, _)| *word).collect();
        words.join(" or ")
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<T> {
        let text = cell.text()?;
        let known = self.0.iter().find(|(word, _)| *word == text);
        known
            .map(|(_, value)| *value)
            .ok_or_else(|| cell.fault(self.holds()))
    }
}

/// An optional column that may have empty cells. A missing value is `None`.
pub struct Maybe<K>(pub K);

impl<T, K: Kind<T>> Kind<Option<T>> for Maybe<K> {
    fn holds(&self) -> String {
        self.0.holds()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<Option<T>> {
        if cell.is_missing() {
            Ok(None)
        } else {
            self.0.read(cell).map(Some)
        }
    }

    fn absent(&self) -> Option<Option<T>> {
        Some(None)
    }
}

/// An optional column that may have empty cells. A missing value is replaced with this default.
pub struct Or<K, T>(pub K, pub T);

impl<T: Clone, K: Kind<T>> Kind<T> for Or<K, T> {
    fn holds(&self) -> String {
        self.0.holds()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<T> {
        if cell.is_missing() {
            Ok(self.1.clone())
        } else {
            self.0.read(cell)
        }
    }

    fn absent(&self) -> Option<T> {
        Some(self.1.clone())
    }
}

/// An optional column that must not have empty cells.
pub struct Filled<K>(pub K);

impl<T, K: Kind<T>> Kind<Option<T>> for Filled<K> {
    fn holds(&self) -> String {
        self.0.holds()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<Option<T>> {
        self.0.read(cell).map(Some)
    }

    fn absent(&self) -> Option<Option<T>> {
        Some(None)
    }
}

/// A column whose cells are parsed by the reader of the table, because their meaning depends on other rows.
pub struct Later<K>(pub K);

impl<T, K: Kind<T>> Kind<PhantomData<T>> for Later<K> {
    fn holds(&self) -> String {
        self.0.holds()
    }

    fn read(&self, _: &Cell<'_>) -> CellResult<PhantomData<T>> {
        Ok(PhantomData)
    }
}
