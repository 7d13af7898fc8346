//! One cell of a table, read as what it should be.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::{Place, number};
use crate::domain::Stamp;
use crate::error::Fault;
use crate::ingest::parquet::Value;
use crate::ingest::source::Source;

/// What a cell holds, or its fault.
pub(in crate::ingest) type CellResult<T> = Result<T, Box<Fault>>;

/// A time as a table tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum CellTime {
    /// Seconds of the table's own clock.
    Seconds(i64),
    /// A civil time, or one with an offset from UTC.
    Civil(Stamp),
}

/// A cell. Its readers return a fault where it is missing or something else.
#[derive(Clone, Copy)]
pub(in crate::ingest) struct Cell<'r> {
    pub(super) source: &'r Source,
    pub(super) place: Place,
    pub(super) label: &'r str,
    /// Never an empty text.
    pub(super) value: Value<'r>,
}

impl<'r> Cell<'r> {
    /// Whether it is empty.
    pub fn is_missing(&self) -> bool {
        self.value == Value::Null
    }

    /// The whole number that it is, where it is one.
    pub fn whole(&self) -> Option<i64> {
        number::whole(self.value)
    }

    /// A whole number in a range; one written as `97.0` is one too.
    pub fn integer(&self, range: RangeInclusive<i64>) -> CellResult<i64> {
        let number = self.whole().filter(|number| range.contains(number));
        number.ok_or_else(|| {
            let (least, most) = range.into_inner();
            self.fault(format!("a whole number from {least} to {most}"))
        })
    }

    /// A finite number.
    pub fn float(&self) -> CellResult<f64> {
        number::finite(self.value).ok_or_else(|| self.fault("a finite number"))
    }

    /// Yes or no: 0 or 1, `false` or `true`.
    pub fn flag(&self) -> CellResult<bool> {
        number::flag(self.value).ok_or_else(|| self.fault("0 or 1"))
    }

    /// A text; a number is the text that one would write for it.
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
        text.ok_or_else(|| match self.is_missing() {
            true => self.fault("a text"),
            false => self.fault("a text in UTF-8"),
        })
    }

    /// The name of a thing: a text, where a whole number is written without a fraction, so
    /// that `765472.0` and `765472` are the same.
    pub fn id(&self) -> CellResult<Cow<'r, str>> {
        Ok(match self.text()? {
            Cow::Borrowed(text) => Cow::Borrowed(without_zero_fraction(text)),
            owned => owned,
        })
    }

    /// A time: whole seconds of the table's own clock, or a civil time, perhaps with an offset.
    pub fn clock(&self) -> CellResult<CellTime> {
        let seconds = number::whole(self.value).map(CellTime::Seconds);
        let civil = || match self.value {
            // Seconds with a fraction are no civil time.
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

    /// A fault of the cell as it is.
    pub fn fault(&self, expected: impl Into<String>) -> Box<Fault> {
        self.fault_of(self.value.to_string(), expected)
    }

    /// A fault of the cell in other words than what it holds.
    pub fn fault_of(&self, found: impl Into<String>, expected: impl Into<String>) -> Box<Fault> {
        let fault = self.source.fault(found, expected);
        Box::new(fault.at(self.place).field(self.label))
    }
}

/// A text without a fraction of zeros, where it is a whole number with one.
pub(in crate::ingest) fn without_zero_fraction(text: &str) -> &str {
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
