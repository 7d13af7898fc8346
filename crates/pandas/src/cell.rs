//! The values in the cells of a table, and their conversions.

use std::borrow::Cow;
use std::sync::Arc;

/// "Not a time", the value that pandas stores for missing values in time
/// columns.
pub const NAT: i64 = i64::MIN;

/// One value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// `None` or `pandas.NA`. A missing number is a NaN [`Cell::Float`].
    Missing,
    /// A Boolean value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(Cow<'a, str>),
    /// A time in nanoseconds since 1970-01-01, or [`NAT`]. The time is in UTC
    /// if the column has a time zone, and in local time otherwise.
    DatetimeNs(i64),
    /// A list, tuple or array of numbers, each rounded to the nearest `f64`.
    Numbers(Arc<[f64]>),
    /// Any other value, described in words.
    Other(&'static str),
}

impl Cell<'_> {
    /// The value as a number: integers are rounded to the nearest `f64`, true is 1, false is 0, and a missing value is
    /// NaN. `None` for all other values.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Missing => Some(f64::NAN),
            Self::Bool(value) => Some(f64::from(u8::from(value))),
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }

    /// The value as an integer: true is 1, and false is 0. A float that is exactly an integer is accepted, because
    /// pandas stores integers as floats if a column has missing values. `None` for all other values.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Self::Bool(value) => Some(i64::from(value)),
            Self::Int(value) => Some(value),
            Self::Float(value) => exact_integer(value),
            _ => None,
        }
    }

    /// The value as a string; `None` if it is not a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a time in the format of [`Cell::DatetimeNs`]. A missing value becomes [`NAT`]. `None` for all other
    /// values.
    pub fn as_datetime_ns(&self) -> Option<i64> {
        match *self {
            Self::Missing => Some(NAT),
            Self::Float(value) if value.is_nan() => Some(NAT),
            Self::DatetimeNs(value) => Some(value),
            _ => None,
        }
    }

    /// A description of the value, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Missing => "no value".into(),
            Self::Bool(value) => format!("the Boolean {value}"),
            Self::Int(value) => format!("the integer {value}"),
            Self::Float(value) => format!("the number {value}"),
            Self::Text(text) => {
                let start: String = text.chars().take(40).collect();
                format!("the string {start:?}")
            }
            Self::DatetimeNs(NAT) => "a missing time (NaT)".into(),
            Self::DatetimeNs(value) => format!("a time ({value} ns since 1970)"),
            Self::Numbers(numbers) => format!("a list of {} numbers", numbers.len()),
            Self::Other(what) => (*what).into(),
        }
    }
}

/// The value as an integer, if it is an integer and its absolute value is below
/// 2^53.
fn exact_integer(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    (value.fract() == 0.0 && value.abs() < LIMIT).then_some(value as i64)
}
