//! Reads and parses TOML, and describes malformed TOML in messages.

use gleaner_domain::error::{Error, Result};
use serde::de::DeserializeOwned;

use crate::source::{Source, TOML_LIMIT};

/// Reads the text of a TOML file.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read(source: &Source) -> Result<String> {
    let text = String::from_utf8(source.read_up_to(TOML_LIMIT)?.into_owned());
    text.map_err(|_| source.fault("bytes that are not UTF-8", "text").into())
}

/// Parses `text` as TOML. `expected` describes the expected content, for messages. `types` lists the names of Rust
/// types that can occur in messages of the parser, each with the text that replaces it.
///
/// # Errors
/// The text is not TOML, or does not describe a `T`. The fault shows the line.
pub fn parse<T: DeserializeOwned>(
    source: &Source,
    text: &str,
    expected: &str,
    types: &[(&str, &str)],
) -> Result<T> {
    toml::from_str(text).map_err(|error| malformed(source, text, &error, expected, types))
}

/// The line number, from 1, of the byte at offset `at`.
pub fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// The number of the line at which the TOML text is malformed.
pub fn line_of(text: &str, error: &toml::de::Error) -> usize {
    line(text, error.span().map_or(0, |span| span.start))
}

fn malformed(
    source: &Source,
    text: &str,
    error: &toml::de::Error,
    expected: &str,
    types: &[(&str, &str)],
) -> Error {
    let number = line_of(text, error);
    let shown = text.lines().nth(number - 1).unwrap_or_default().trim();
    let found = format!("`{shown}` ({})", plain(error.message().trim(), types));
    let fault = source.fault(found, expected);
    fault.at(format!("line {number}")).into()
}

/// Replaces the names of Rust types in a message with plain words.
fn plain(message: &str, types: &[(&str, &str)]) -> String {
    types.iter().fold(message.to_owned(), |text, (from, to)| {
        text.replace(&format!("expected {from}"), &format!("expected {to}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_in_the_line_that_ends_behind_them() {
        let text = "a\nbc\n";
        let lines = [0, 1, 2, 4, 5, 9].map(|at| line(text, at));
        assert_eq!(lines, [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn names_of_types_become_words() {
        let types = [("u32", "a whole number"), ("f64", "a number")];
        let message = "invalid type: string \"f64\", expected u32";
        let shown = "invalid type: string \"f64\", expected a whole number";
        assert_eq!(plain(message, &types), shown);
    }
}
