//! The formats in which public tables write times, counts and lists of nodes.

use std::borrow::Cow;

use super::super::clock::{american, stamp};
use super::super::djc::whole;
use super::super::record::Moment;
use gleaner_domain::{Local, Stamp, Utc};
use gleaner_io::parquet::Value;

/// Whether a string means that the value is missing.
pub(super) fn is_missing(text: &str) -> bool {
    matches!(
        text,
        "" | "0"
            | "None"
            | "none"
            | "NaT"
            | "nan"
            | "NaN"
            | "NA"
            | "<NA>"
            | "N/A"
            | "null"
            | "NULL"
            | "(null)"
            | "\\N"
            | "Unknown"
            | "None assigned"
    )
}

/// The text is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct NoTime;

/// The time in a cell; `None` if it is missing. If `utc` is set, timestamps are instants; otherwise, they are local
/// times.
pub(in super::super) fn time(value: Value<'_>, utc: bool) -> Result<Option<Moment>, NoTime> {
    let moment = match value {
        Value::Null | Value::Empty => return Ok(None),
        Value::Text(text) => return text_time(std::str::from_utf8(text).map_err(|_| NoTime)?),
        Value::Int(number) => scaled(number)?,
        Value::Float(number) if number.is_nan() => return Ok(None),
        Value::Float(number) => scaled(number as i64)?,
        // pandas writes the smallest integer for a missing timestamp.
        Value::Time(Some(Local(i64::MIN))) => return Ok(None),
        Value::Time(Some(time)) if utc => Moment::Second(time.second()),
        Value::Time(Some(time)) => {
            Moment::Written(Stamp::Local(Local::from_seconds(time.second())))
        }
        Value::Time(None) | Value::Bool(_) => return Err(NoTime),
    };
    Ok(Some(moment).filter(|moment| !is_zero(*moment)))
}

/// The time in a string; `None` if it is missing.
pub(super) fn text_time(text: &str) -> Result<Option<Moment>, NoTime> {
    let text = text.trim();
    if is_missing(text) {
        return Ok(None);
    }
    let is_number = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+');
    let moment = if text.bytes().all(is_number) {
        number(text)?
    } else if text.starts_with('-') {
        // The number is negative, such as -1, which stands for an unknown time.
        return Err(NoTime);
    } else {
        let written = stamp(text)
            .or_else(|| slashed(text))
            .or_else(|| american(text));
        Moment::Written(written.ok_or(NoTime)?)
    };
    Ok(Some(moment).filter(|moment| !is_zero(*moment)))
}

/// Whether a time is the start of 1970, which tables write for a job that never started or ended.
fn is_zero(moment: Moment) -> bool {
    match moment {
        Moment::Second(second) => second == 0,
        Moment::Written(Stamp::Local(local)) => local.second() == 0,
        Moment::Written(Stamp::Epoch(utc) | Stamp::Zoned { utc, .. }) => utc.second() == 0,
    }
}

/// The time in a string that is a number, such as `1621555260`, `1621555260.0` or `1.62155526e9`.
fn number(text: &str) -> Result<Moment, NoTime> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !whole.is_empty() && digits(whole) && digits(fraction) {
        return scaled(whole.parse().map_err(|_| NoTime)?);
    }
    let number: f64 = text.parse().map_err(|_| NoTime)?;
    scaled(number as i64)
}

/// Converts seconds, milliseconds, microseconds or nanoseconds since 1970 to a time. From 1973 to 2261, the ranges of
/// the units do not overlap.
fn scaled(number: i64) -> Result<Moment, NoTime> {
    /// The last second that an event log can hold.
    const LAST: i64 = 9_200_000_000;
    let unit = match number {
        0..=LAST => 1,
        100_000_000_000..=9_200_000_000_000 => 1_000,
        100_000_000_000_000..=9_200_000_000_000_000 => 1_000_000,
        100_000_000_000_000_000..=9_200_000_000_000_000_000 => 1_000_000_000,
        _ => return Err(NoTime),
    };
    let second = number / unit;
    Ok(Moment::Written(Stamp::Epoch(Utc::from_seconds(second))))
}

/// Parses a time such as `2023/7/15 02:19` or `2023/7/15 02:19:00`, or a date alone. A fraction of a second is dropped.
fn slashed(text: &str) -> Option<Stamp> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let (date, time) = (fields(date, '/')?, fields(time, ':')?);
    let ([Some(year), Some(month), Some(day)], [Some(hour), Some(minute), second]) = (date, time)
    else {
        return None;
    };
    let second = second.unwrap_or(0);
    if year < 1000 {
        return None;
    }
    stamp(&format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    ))
}

/// Parses up to three numbers of at most four digits. A fraction of the last number is dropped.
fn fields(text: &str, separator: char) -> Option<[Option<u32>; 3]> {
    let (text, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut fields = [None; 3];
    for (index, part) in text.split(separator).enumerate() {
        let is_number = (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        *fields.get_mut(index)? = Some(part.parse().ok().filter(|_| is_number)?);
    }
    Some(fields)
}

/// The number of nodes in a cell; `None` if it is missing, 0, or not a whole number.
pub(super) fn count(value: Value<'_>) -> Option<u32> {
    let count = match value {
        Value::Int(number) => u32::try_from(number).ok(),
        Value::Float(number) if number.fract() == 0.0 => u32::try_from(number as i64).ok(),
        Value::Text(text) => whole(std::str::from_utf8(text).ok()?),
        _ => None,
    };
    count.filter(|count| *count > 0)
}

/// Adds the host lists in a string. The string is one host list, several host lists separated by spaces, or a list in
/// Python or JSON syntax, such as `['n1', 'n2']`. The error describes the fault.
pub(super) fn lists<'t>(text: &'t str, lists: &mut Vec<Cow<'t, str>>) -> Result<(), &'static str> {
    let text = text.trim();
    if is_missing(text) && text != "0" || text == "[]" {
        return Ok(());
    }
    if let Some(items) = quoted_items(text) {
        return items_in_quotes(items, lists);
    }
    let mut is_open = false;
    let between_words = |letter: char| {
        match letter {
            '[' => is_open = true,
            ']' => is_open = false,
            _ => {}
        }
        !is_open && letter.is_whitespace()
    };
    let words = text.split(between_words);
    let words = words.map(|word| word.trim_matches(','));
    let words = words.filter(|word| !word.is_empty());
    lists.extend(words.map(Cow::Borrowed));
    Ok(())
}

/// The text after the opening bracket of a list of quoted strings; `None` for anything else, such as the list of hosts
/// `[07-08]`.
fn quoted_items(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    inner.trim_start().starts_with(['\'', '"']).then_some(inner)
}

/// Adds the strings of a list of quoted strings to `lists`. `items` is the text after the opening bracket of the list.
fn items_in_quotes<'t>(
    mut items: &'t str,
    lists: &mut Vec<Cow<'t, str>>,
) -> Result<(), &'static str> {
    const WRONG: &str = "a list whose quotes or brackets do not match";
    loop {
        items = items.trim_start_matches([' ', ',', '\n', '\t']);
        if items == "]" {
            return Ok(());
        }
        let quote = items
            .chars()
            .next()
            .filter(|first| ['\'', '"'].contains(first));
        let quote = quote.ok_or(WRONG)?;
        let (item, rest) = items[1..].split_once(quote).ok_or(WRONG)?;
        if !item.trim().is_empty() {
            lists.push(Cow::Borrowed(item.trim()));
        }
        items = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_many_forms() {
        let epoch = |second| {
            Ok(Some(Moment::Written(Stamp::Epoch(Utc::from_seconds(
                second,
            )))))
        };
        let local = |second| {
            Ok(Some(Moment::Written(Stamp::Local(Local::from_seconds(
                second,
            )))))
        };
        for (text, expected) in [
            ("1621555260", epoch(1_621_555_260)),
            ("1621555260.0", epoch(1_621_555_260)),
            ("1621555260123", epoch(1_621_555_260)),
            ("1.62155526e9", epoch(1_621_555_260)),
            ("1621555260123456", epoch(1_621_555_260)),
            ("2023/7/15 02:19", local(1_689_387_540)),
            ("2023/07/15 02:19:30.5", local(1_689_387_570)),
            ("2023/7/15", local(1_689_379_200)),
            ("2023-07-15 02:19", local(1_689_387_540)),
            ("07/15/2023 02:19:00", local(1_689_387_540)),
            ("0", Ok(None)),
            ("0.0", Ok(None)),
            ("None", Ok(None)),
            ("NaT", Ok(None)),
            ("", Ok(None)),
            ("1970-01-01T00:00:00", Ok(None)),
            ("-1", Err(NoTime)),
            ("99999999999999999999", Err(NoTime)),
            ("10000000000", Err(NoTime)),
            ("2023/13/15 02:19", Err(NoTime)),
            ("2023/7/15 25:19", Err(NoTime)),
            ("23/7/15 02:19", Err(NoTime)),
            ("2023/7/15 02:19+08", Err(NoTime)),
            ("1e300", Err(NoTime)),
            ("soon", Err(NoTime)),
        ] {
            assert_eq!(text_time(text), expected, "{text}");
        }
        let utc = Utc::from_seconds(1_621_555_260);
        let zoned = |offset| Ok(Some(Moment::Written(Stamp::Zoned { utc, offset })));
        assert_eq!(text_time("2021-05-21 08:01:00+08:00"), zoned(28_800));
        assert_eq!(text_time("2021-05-21T00:01:00Z"), zoned(0));
    }

    #[test]
    fn lists_of_nodes_come_in_many_forms() {
        for (text, expected) in [
            ("n[1-2],m3", Ok("n[1-2],m3")),
            ("n1 n2  n3", Ok("n1|n2|n3")),
            ("n1, n2", Ok("n1|n2")),
            ("n[1, 2] m", Ok("n[1, 2]|m")),
            ("['n1', 'n2']", Ok("n1|n2")),
            ("[\"n1\",\"n2\"]", Ok("n1|n2")),
            ("['n1' 'n2'\n 'n3']", Ok("n1|n2|n3")),
            ("[]", Ok("")),
            ("[07-08]", Ok("[07-08]")),
            ("None assigned", Ok("")),
            ("0", Ok("0")),
            ("['n1', 'n2", Err(())),
            ("['n1', n2]", Err(())),
            ("['n1'", Err(())),
        ] {
            let mut found = Vec::new();
            let read = lists(text, &mut found).map_err(|_| ());
            assert_eq!(
                read.map(|()| found.join("|")),
                expected.map(str::to_owned),
                "{text}"
            );
        }
    }

    #[test]
    fn counts_are_whole_and_positive() {
        for (value, expected) in [
            (Value::Int(4), Some(4)),
            (Value::Float(4.0), Some(4)),
            (Value::Float(f64::NAN), None),
            (Value::Text(b"4.0"), Some(4)),
            (Value::Int(0), None),
            (Value::Int(-4), None),
            (Value::Text(b"four"), None),
            (Value::Null, None),
        ] {
            assert_eq!(count(value), expected, "{value:?}");
        }
    }
}
