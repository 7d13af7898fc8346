//! One cell of a table, parsed as the expected type.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::{Place, number};
use crate::parquet::Value;
use crate::source::Source;
use gleaner_domain::Stamp;
use gleaner_domain::error::Fault;

/// The value of a cell, or its fault.
pub type CellResult<T> = Result<T, Box<Fault>>;

/// A time as stated in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellTime {
    /// Seconds on the table's own clock.
    Seconds(i64),
    /// A civil time, with or without an offset from UTC.
    Civil(Stamp),
}

/// A cell. Its methods return a fault if the cell is missing or is not of the requested type.
#[derive(Clone, Copy)]
pub struct Cell<'r> {
    pub(super) source: &'r Source,
    pub(super) place: Place,
    /// The name of the column, for messages.
    pub label: &'r str,
    /// The value, which is never an empty string.
    pub(super) value: Value<'r>,
}

impl<'r> Cell<'r> {
    /// Whether the cell is empty.
    pub fn is_missing(&self) -> bool {
        self.value == Value::Null
    }

    /// The cell as a whole number; `None` if it is anything else.
    pub fn whole(&self) -> Option<i64> {
        number::whole(self.value)
    }

    /// The cell as a whole number in this range. Both `97` and `97.0` are accepted.
    pub fn integer(&self, range: RangeInclusive<i64>) -> CellResult<i64> {
        let number = self.whole().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = range.into_inner();
            self.fault(format!("a whole number from {least} to {most}"))
        })
    }

    /// The cell as a finite number.
    pub fn float(&self) -> CellResult<f64> {
        number::finite(self.value).ok_or_else(|| self.fault("a finite number"))
    }

    /// The cell as a number, which is infinite or NaN if training diverged. An empty cell is NaN, because data frames
    /// write NaN as an empty cell.
    pub fn float_or_diverged(&self) -> CellResult<f64> {
        let value = number::any(self.value).or(self.is_missing().then_some(f64::NAN));
        value.ok_or_else(|| self.fault("a number, or nan if training diverged"))
    }

    /// The cell as a boolean: 0 or 1, or `false` or `true` in any case.
    pub fn flag(&self) -> CellResult<bool> {
        number::flag(self.value).ok_or_else(|| self.fault("0 or 1"))
    }

    /// The cell as a string. Numbers are converted.
    pub fn text(&self) -> CellResult<Cow<'r, str>> {
        let text = match self.value {
            Value::Text(text) => std::str::from_utf8(text).ok().map(Cow::Borrowed),
            Value::Int(number) => Some(number.to_string().into()),
            Value::Float(float) => Some(match number::whole(self.value) {
                Some(number) => number.to_string().into(),
                None => float.to_string().into(),
            }),
            Value::Bool(flag) => Some(flag.to_string().into()),
            Value::Time(Some(time)) => Some(time.to_string().into()),
            Value::Null | Value::Empty | Value::Time(None) => None,
        };
        text.ok_or_else(|| {
            let is_missing = self.is_missing();
            self.fault(if is_missing {
                "a string"
            } else {
                "text in UTF-8"
            })
        })
    }

    /// The cell as an identifier. The zero fraction of a whole number is removed, so `765472.0` and `765472` are the
    /// same identifier.
    pub fn id(&self) -> CellResult<Cow<'r, str>> {
        Ok(match self.text()? {
            Cow::Borrowed(text) => Cow::Borrowed(without_zero_fraction(text)),
            owned => owned,
        })
    }

    /// The cell as a time: whole seconds on the table's own clock, or a civil time with or without an offset.
    pub fn clock(&self) -> CellResult<CellTime> {
        let seconds = number::whole(self.value).map(CellTime::Seconds);
        let civil = || match self.value {
            // Seconds with a fraction are not a civil time.
            Value::Text(text) if number::finite(self.value).is_none() => {
                let stamp = std::str::from_utf8(text).ok()?.parse();
                stamp.ok().map(CellTime::Civil)
            }
            Value::Time(_) => self.value.time().map(Stamp::Local).map(CellTime::Civil),
            _ => None,
        };
        seconds
            .or_else(civil)
            .ok_or_else(|| self.fault("whole seconds, or a time such as 2020-04-01 00:00:00"))
    }

    /// A fault that shows the content of the cell.
    pub fn fault(&self, expected: impl Into<String>) -> Box<Fault> {
        self.fault_of(self.value.to_string(), expected)
    }

    /// A fault that shows this text instead of the content of the cell.
    pub fn fault_of(&self, found: impl Into<String>, expected: impl Into<String>) -> Box<Fault> {
        let fault = self.source.fault(found, expected);
        Box::new(fault.at(self.place).field(self.label))
    }
}

/// Removes the zero fraction of a whole number: `97.0` becomes `97`. Any other text is returned unchanged.
pub fn without_zero_fraction(text: &str) -> &str {
    match text.split_once('.') {
        Some((number, zeros))
            if !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && !zeros.is_empty()
                && zeros.bytes().all(|byte| byte == b'0') =>
        {
            number
        }
        _ => text,
    }
}
