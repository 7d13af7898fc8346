//! Numbers formatted for human readers.

/// Maximum number of significant digits.
const DIGITS: i32 = 6;

/// Formats a number with at most six significant digits, without trailing zeros: `1234.5`, `0.25`,
/// `1.20934e21`. Zero has no sign. For numbers below 1e15, all digits before the decimal point are
/// shown.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-5..=14).contains(&magnitude) {
        let text = format!("{value:.*e}", DIGITS as usize - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let decimals = (DIGITS - 1 - magnitude).max(0) as usize;
    let text = format!("{value:.decimals$}");
    match trimmed(&text) {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Removes trailing zeros from the fraction of a decimal number.
fn trimmed(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_shown() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (7.95, "7.95"),
            (1234.5678, "1234.57"),
            (-0.25, "-0.25"),
            (1_234_567.0, "1234567"),
            (2_431_200_000.0, "2431200000"),
            (1.209_34e21, "1.20934e21"),
            (1e300, "1e300"),
            (0.000_012_345_678, "0.0000123457"),
            (1e-9, "1e-9"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
