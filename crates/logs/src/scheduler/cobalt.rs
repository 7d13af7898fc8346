//! Extracts the nodes from Cobalt's accounting records.

use std::borrow::Cow;

use super::account_line::AccountLine;

/// The source of the log, as a phrase for messages.
pub const WHERE: &str =
    "Cobalt's accounting log, named by log_dir in the [cqm] section of cobalt.conf";

/// The hosts in `exec_host`: locations separated by `:`. A location is a name, a number, or a range
/// of numbers such as `4125-4131`. On a Blue Gene, a location is a partition, which is treated as
/// one node of that name.
pub(super) fn hosts(record: &AccountLine<'_>) -> Option<Vec<Cow<'static, str>>> {
    let value = record
        .value("exec_host")
        .filter(|value| !value.is_empty())?;
    let hosts = locations(&value).map(|location| Cow::Owned(location.into_owned()));
    Some(hosts.collect())
}

/// Converts a list of locations to lists of hosts. A range is put in brackets.
pub(super) fn locations(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let parts = text.split([':', ',', ' ']).filter(|part| !part.is_empty());
    parts.map(|part| {
        if is_range(part) {
            Cow::Owned(format!("[{part}]"))
        } else {
            Cow::Borrowed(part)
        }
    })
}

fn is_range(part: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    part.split_once('-')
        .is_some_and(|(first, last)| digits(first) && digits(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_names_numbers_and_ranges() {
        for (value, expected) in [
            ("nid00012:nid00013", "nid00012 nid00013"),
            ("\"4125-4131,4140\"", "[4125-4131] 4140"),
            ("7", "7"),
            ("ANL-R00-R01-2048", "ANL-R00-R01-2048"),
        ] {
            let line = format!("01/31/2026 08:00:00;E;7;end=1.5 exec_host={value}");
            let record = AccountLine::parse(&line).unwrap();
            assert_eq!(hosts(&record).unwrap().join(" "), expected);
        }
    }
}
