//! Formats numbers, shares, hours and changes for the terminal and for pages.

use std::fmt::Display;

/// Seconds in an hour.
pub const HOUR: f64 = 3600.0;

/// Formats a number with about three significant digits and commas between thousands: `1,234`, `12.3`, `0.012`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "none".to_owned();
    }
    match size {
        0.0 => "0".to_owned(),
        _ if !(1e-3..1e15).contains(&size) => format!("{value:.2e}"),
        _ if size >= 99.95 => grouped(&format!("{value:.0}")),
        _ if size >= 9.995 => format!("{value:.1}"),
        _ if size >= 0.9995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Formats a count with commas between thousands.
pub fn count(value: impl Display) -> String {
    grouped(&value.to_string())
}

/// Formats a number with about five significant digits. Numbers of a million or more end with a word for their
/// magnitude: `1.2345 billion`.
pub fn large(value: f64) -> String {
    let words = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
    match words.iter().find(|(size, _)| value.abs() >= *size) {
        _ if !value.is_finite() || value.abs() >= 1e15 => number(value),
        Some((size, word)) => format!("{} {word}", five_digits(value / size)),
        None if value != 0.0 && value.abs() < 1e-3 => number(value),
        None => five_digits(value),
    }
}

/// Formats a number below 1e15 with at least five significant digits, or with four decimals if it is below 1.
fn five_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (4 - value.abs().log10().floor() as i32).clamp(0, 4);
    grouped(&format!("{value:.*}", decimals as usize))
}

/// Formats a share as a percentage: `12.3 %`. A share that rounds to 0 has no minus sign.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        size if !size.is_finite() => "none".to_owned(),
        size if size < 0.05 => format!("{size:.1} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// Formats a part of a whole as a percentage; 0 % if the whole is 0.
pub fn part(part: f64, whole: f64) -> String {
    percent(if whole > 0.0 { part / whole } else { 0.0 })
}

/// Formats node-seconds or seconds as hours. Values of 1 hour or more have at least four significant digits. Positive
/// values below a thousandth of an hour become `< 0.001`.
pub fn hours(seconds: f64) -> String {
    match seconds / HOUR {
        hours if hours > 0.0 && hours < 1e-3 => "< 0.001".to_owned(),
        hours if (1e-3..1e12).contains(&hours) => {
            let decimals = (3 - hours.log10().floor() as i32).clamp(1, 3);
            grouped(&format!("{hours:.*}", decimals as usize))
        }
        hours => number(hours),
    }
}

/// Formats seconds as hours with their unit. Pages about runs show all times in hours.
pub fn in_hours(seconds: f64) -> String {
    format!("{} h", hours(seconds))
}

/// Formats the change from `base` to `value`, such as `+12.3 %`. A large increase becomes a factor such as `× 50.0`, a
/// change below 0.05 % becomes `same`, and an undefined ratio becomes `none`.
pub fn change(value: f64, base: f64) -> String {
    if value == base {
        return "same".to_owned();
    }
    if base == 0.0 || !base.is_finite() || !value.is_finite() {
        return "none".to_owned();
    }
    let change = 100.0 * (value / base - 1.0);
    match change.abs() {
        size if size >= 999.5 => format!("× {}", number(value / base)),
        size if size < 0.05 => "same".to_owned(),
        _ if change < 0.0 => format!("−{:.1} %", -change),
        _ => format!("+{change:.1} %"),
    }
}

/// Formats the change from `base` to `share` in percentage points.
pub fn points(share: f64, base: f64) -> String {
    let points = 100.0 * (share - base);
    match points {
        size if size.abs() < 0.05 => "same".to_owned(),
        size if size < 0.0 => format!("−{:.1} points", -size),
        size => format!("+{size:.1} points"),
    }
}

/// Inserts commas between the thousands of a number.
pub fn grouped(digits: &str) -> String {
    let (digits, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("−", rest),
        None => ("", digits),
    };
    let mut out = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples of formatted numbers.
    #[test]
    fn numbers_have_the_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (1234567.8, "1,234,568"),
            (-1234.0, "−1,234"),
            (999.9, "1,000"),
            (99.96, "100"),
            (12.345, "12.3"),
            (1.0, "1.00"),
            (0.0123, "0.012"),
            (1e-9, "1.00e-9"),
            (2.5e20, "2.50e20"),
            (f64::NAN, "none"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(large(2.431_24e9), "2.4312 billion");
        assert_eq!(large(123_456.7), "123,457");
        assert_eq!(
            [0.0, 1.0, 36.0, 5_400.0, 4.5e6].map(hours),
            ["0", "< 0.001", "0.010", "1.500", "1,250.0"]
        );
        assert_eq!(in_hours(5_400.0), "1.500 h");
        assert_eq!([large(999.0), large(0.012_34)], ["999.00", "0.0123"]);
    }

    #[test]
    fn shares_and_changes() {
        assert_eq!(part(1.0, 3.0), "33.3 %");
        assert_eq!(
            [-1e-5, -0.0, 1e-5, -0.001, f64::NAN].map(percent),
            ["0.0 %", "0.0 %", "0.0 %", "-0.1 %", "none"]
        );
        assert_eq!(part(1.0, 0.0), "0.0 %");
        assert_eq!(change(110.0, 100.0), "+10.0 %");
        assert_eq!(change(90.0, 100.0), "−10.0 %");
        assert_eq!(change(100.0, 100.0), "same");
        assert_eq!(change(100.0001, 100.0), "same");
        assert_eq!(change(5000.0, 100.0), "× 50.0");
        assert_eq!(change(1.0, 0.0), "none");
        assert_eq!(points(0.25, 0.5), "−25.0 points");
        assert_eq!(points(0.5, 0.5), "same");
    }
}
