//! Converts values to numbers.

use crate::parquet::Value;

/// Converts a value to a whole number. A zero fraction, as in `97.0`, is accepted.
pub(super) fn whole(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Float(number) => integral(number),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).ok()?;
            let number = text.parse().ok();
            number.or_else(|| integral(text.parse().ok()?))
        }
        _ => None,
    }
}

/// Converts a value to a number, which may be NaN or infinite.
pub(super) fn any(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        Value::Text(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    }
}

/// Converts a value to a finite number.
pub(super) fn finite(value: Value<'_>) -> Option<f64> {
    any(value).filter(|number| number.is_finite())
}

/// Converts a value to a boolean: 0 or 1, or `false` or `true` in any case.
pub(super) fn flag(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(flag),
        Value::Text(text) if text.eq_ignore_ascii_case(b"true") => Some(true),
        Value::Text(text) if text.eq_ignore_ascii_case(b"false") => Some(false),
        number => match whole(number)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        },
    }
}

/// The whole number that a float represents, if it is small enough that no other whole number
/// rounds to the same float.
fn integral(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.abs() < EXACT && number.fract() == 0.0).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_a_fraction_of_zero() {
        for (value, expected) in [
            (Value::Int(-3), Some(-3)),
            (Value::Float(97.0), Some(97)),
            (Value::Float(97.5), None),
            (Value::Float(f64::INFINITY), None),
            (Value::Float(1e16), None),
            (Value::Text(b"97"), Some(97)),
            (Value::Text(b"97.0"), Some(97)),
            (Value::Text(b"1e3"), Some(1000)),
            (Value::Text(b"9223372036854775807"), Some(i64::MAX)),
            (Value::Text(b"9223372036854775808"), None),
            (Value::Text(b"97.1"), None),
            (Value::Text(b"nan"), None),
            (Value::Text(b"\xff"), None),
            (Value::Bool(true), None),
            (Value::Null, None),
        ] {
            assert_eq!(whole(value), expected, "{value:?}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        for (value, expected) in [
            (Value::Int(2), Some(2.0)),
            (Value::Float(0.5), Some(0.5)),
            (Value::Text(b"-1.5e2"), Some(-150.0)),
            (Value::Text(b"inf"), None),
            (Value::Text(b"1e999"), None),
            (Value::Text(b"one"), None),
            (Value::Null, None),
        ] {
            assert_eq!(finite(value), expected, "{value:?}");
        }
    }

    #[test]
    fn flags_are_numbers_or_words() {
        for (value, expected) in [
            (Value::Bool(true), Some(true)),
            (Value::Int(0), Some(false)),
            (Value::Float(1.0), Some(true)),
            (Value::Text(b"1.0"), Some(true)),
            (Value::Text(b"True"), Some(true)),
            (Value::Text(b"FALSE"), Some(false)),
            (Value::Int(2), None),
            (Value::Text(b"yes"), None),
            (Value::Null, None),
        ] {
            assert_eq!(flag(value), expected, "{value:?}");
        }
    }
}
