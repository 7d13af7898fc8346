//! Parses accounting records: `MM/DD/YYYY HH:MM:SS;TYPE;id;key=value …`.

use std::borrow::Cow;

use super::clock::american;
use gleaner_domain::Stamp;

/// A line of an accounting log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AccountLine<'l> {
    /// Local time at which the record was written.
    pub stamp: Stamp,
    /// The type of the record, such as `E`.
    pub kind: &'l str,
    /// The id of the job, reservation or node that the record describes.
    pub id: &'l str,
    /// The unparsed attributes.
    message: &'l str,
}

/// The type of the record, or `None` if the line is not a record.
pub fn kind(line: &str) -> Option<&str> {
    AccountLine::parse(line).ok().map(|record| record.kind)
}

impl<'l> AccountLine<'l> {
    /// Parses a line. The error explains why the line is not a record.
    pub fn parse(line: &'l str) -> Result<Self, String> {
        let mut parts = line.splitn(4, ';');
        let (Some(stamp), Some(kind), Some(id)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("a line without the three semicolons of a record".to_owned());
        };
        let Some(time) = american(stamp.trim()) else {
            return Err(format!(
                "{stamp:?} is not a time such as 01/31/2026 08:00:00"
            ));
        };
        Ok(AccountLine {
            stamp: time,
            kind: kind.trim(),
            id: id.trim(),
            message: parts.next().unwrap_or_default(),
        })
    }

    /// The value of an attribute, without its quotes. `None` if the record lacks the attribute.
    pub fn value(&self, key: &str) -> Option<Cow<'l, str>> {
        Attributes(self.message)
            .find(|(found, _)| *found == key)
            .map(|(_, value)| unquoted(value))
    }
}

/// Iterates over the attributes of a record. The values keep their quotes.
struct Attributes<'l>(&'l str);

impl<'l> Iterator for Attributes<'l> {
    type Item = (&'l str, &'l str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.0.trim_start();
            if text.is_empty() {
                return None;
            }
            let (word, rest) = text.split_at(word_length(text));
            self.0 = rest;
            if let Some(pair) = word.split_once('=') {
                return Some(pair);
            }
        }
    }
}

/// Length of the text up to the first space or tab outside quotes.
fn word_length(text: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') if opens(text, at) => quote = Some(byte),
            (None, b' ' | b'\t') => return at,
            _ => {}
        }
    }
    match quote {
        None => text.len(),
        // The text has no closing quote, so the open quote is treated as an apostrophe.
        Some(_) => text.find([' ', '\t']).unwrap_or(text.len()),
    }
}

/// Whether a quote at this position opens a quoted value. This is the case only at the start of the text and after `=`
/// or `,`.
fn opens(text: &str, at: usize) -> bool {
    at.checked_sub(1)
        .is_none_or(|before| matches!(text.as_bytes()[before], b'=' | b','))
}

/// A value without its quotes and escapes.
fn unquoted(value: &str) -> Cow<'_, str> {
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    match inner {
        None => Cow::Borrowed(value),
        Some(inner) if !inner.contains('\\') => Cow::Borrowed(inner),
        Some(inner) => {
            let mut escaped = false;
            let kept = inner.chars().filter(|c| {
                escaped = *c == '\\' && !escaped;
                !escaped
            });
            Cow::Owned(kept.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_may_be_quoted() {
        let line = r#"01/31/2026 08:00:00;E;7.pbs;user=a jobname="my \"best\" job end=9" x='a b' \
                      comment=it's end=17 nodes=[1,2] last="#;
        let record = AccountLine::parse(line).unwrap();
        assert_eq!((record.kind, record.id), ("E", "7.pbs"));
        for (key, value) in [
            ("user", Some("a")),
            ("jobname", Some(r#"my "best" job end=9"#)),
            ("x", Some("a b")),
            ("comment", Some("it's")),
            ("end", Some("17")),
            ("last", Some("")),
            ("other", None),
        ] {
            assert_eq!(record.value(key).as_deref(), value, "{key}");
        }
    }

    #[test]
    fn an_invalid_record_is_reported() {
        for (line, part) in [
            ("01/31/2026 08:00:00 up", "semicolons"),
            ("2026-01-31 08:00:00;E;7;x=1", "not a time such as"),
        ] {
            assert!(
                AccountLine::parse(line).unwrap_err().contains(part),
                "{line}"
            );
        }
        assert_eq!(
            AccountLine::parse("01/31/2026 08:00:00;L;license")
                .unwrap()
                .value("x"),
            None
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        #[test]
        fn any_quoted_value_is_read_back(value in "[a-z \"\\\\;=']{0,12}") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            let line = format!("01/31/2026 08:00:00;E;7;before=1 it=\"{escaped}\" after=2");
            let record = AccountLine::parse(&line).unwrap();
            let (it, after) = (record.value("it"), record.value("after"));
            prop_assert_eq!(it.as_deref(), Some(value.as_str()));
            prop_assert_eq!(after.as_deref(), Some("2"));
        }

        #[test]
        fn any_line_is_read_or_refused(line in "\\PC{0,60}") {
            if let Ok(record) = AccountLine::parse(&format!("01/31/2026 08:00:00;E;7;{line}")) {
                let _ = record.value("end");
            }
        }
    }
}
