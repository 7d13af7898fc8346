//! What the cells of a column hold.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use gleaner_solvers::range::short;

use super::{Cell, CellResult, CellTime};

/// How a value is read from the cells of a column.
pub(in crate::ingest) trait Kind<T> {
    /// What the cells hold, in the words of messages.
    fn holds(&self) -> String;

    /// Reads a cell.
    ///
    /// # Errors
    /// The cell is empty or holds something else.
    fn read(&self, cell: &Cell<'_>) -> CellResult<T>;

    /// The value if the table lacks the column; `None` if it must have it.
    fn absent(&self) -> Option<T> {
        None
    }
}

/// A text.
pub(in crate::ingest) struct Text;

impl Kind<String> for Text {
    fn holds(&self) -> String {
        "a text".to_owned()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<String> {
        Ok(cell.text()?.into_owned())
    }
}

/// An identifier: a text, in which a whole number loses a zero fraction.
pub(in crate::ingest) struct Id;

impl Kind<String> for Id {
    fn holds(&self) -> String {
        Text.holds()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<String> {
        Ok(cell.id()?.into_owned())
    }
}

/// A boolean: 0 or 1, `false` or `true`.
pub(in crate::ingest) struct Flag;

impl Kind<bool> for Flag {
    fn holds(&self) -> String {
        "0 or 1".to_owned()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<bool> {
        cell.flag()
    }
}

/// A time: whole seconds of the table's own clock, or a civil time.
pub(in crate::ingest) struct Clock;

impl Kind<CellTime> for Clock {
    fn holds(&self) -> String {
        "whole seconds, or a time such as 2020-04-01 00:00:00".to_owned()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<CellTime> {
        cell.clock()
    }
}

/// A whole number in a range. The range must be within that of the field's type.
pub(in crate::ingest) struct Whole(pub RangeInclusive<i64>);

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
pub(in crate::ingest) struct Number {
    /// What the number is, such as `a speed`.
    pub what: &'static str,
    pub range: RangeInclusive<f64>,
}

impl Kind<f64> for Number {
    fn holds(&self) -> String {
        let (low, high) = (short(*self.range.start()), *self.range.end());
        if high == f64::MAX {
            format!("{} of at least {low}", self.what)
        } else {
            format!("{} from {low} to {}", self.what, short(high))
        }
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<f64> {
        let number = cell.float().ok();
        let number = number.filter(|number| self.range.contains(number));
        number.ok_or_else(|| cell.fault(self.holds()))
    }
}

/// A number that is infinite or NaN where training diverged. An empty cell is NaN.
pub(in crate::ingest) struct Diverging;

impl Kind<f64> for Diverging {
    fn holds(&self) -> String {
        "a number, or nan if training diverged".to_owned()
    }

    fn read(&self, cell: &Cell<'_>) -> CellResult<f64> {
        cell.float_or_diverged()
    }
}

/// One of a few words, each with its value.
pub(in crate::ingest) struct OneOf<T: 'static>(pub &'static [(&'static str, T)]);

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

/// The table may lack the column, and cells may be empty: then there is no value.
pub(in crate::ingest) struct Maybe<K>(pub K);

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

/// The table may lack the column, and cells may be empty: then the value is this one.
pub(in crate::ingest) struct Or<K, T>(pub K, pub T);

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

/// The table may lack the column. If it has the column, no cell is empty.
pub(in crate::ingest) struct Filled<K>(pub K);

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

/// The reader parses the cells itself, because their meaning depends on other rows.
pub(in crate::ingest) struct Later<K>(pub K);

impl<T, K: Kind<T>> Kind<PhantomData<T>> for Later<K> {
    fn holds(&self) -> String {
        self.0.holds()
    }

    fn read(&self, _: &Cell<'_>) -> CellResult<PhantomData<T>> {
        Ok(PhantomData)
    }
}
