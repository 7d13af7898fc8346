//! The properties of a setting that a declaration specifies in addition to its name, type, default
//! and help.

use std::ffi::OsStr;

use super::value::Value;
use crate::experiment::Use;

/// The specification of a setting with values of type `V`.
pub struct Spec<V> {
    pub(super) style: Style,
    pub(super) rule: Rule<V>,
    pub(super) used_for: Use,
}

/// The properties of a setting on the command line.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Placeholder for the value in the help, such as `SECONDS`. Empty for flags.
    pub placeholder: &'static str,
    /// Heading in the help, if it differs from the heading of the struct.
    pub heading: Option<&'static str>,
    /// One-letter name.
    pub short: Option<char>,
    /// Alias that the help shows.
    pub alias: Option<&'static str>,
    /// Alias that the help does not show.
    pub hidden_alias: Option<&'static str>,
    /// Separator between the values of a list that is written as one word.
    pub separator: Option<char>,
    /// The value that is used if the option is given without a value.
    pub alone: Option<&'static str>,
    /// Help of the flag `--no-NAME`, which turns the setting off if it is on by default.
    pub off: Option<&'static str>,
    /// Whether negative numbers are accepted as values.
    pub is_signed: bool,
    /// Whether the option is required.
    pub is_required: bool,
    /// Another option that this option requires.
    pub requires: Option<&'static str>,
    /// Other options that conflict with this option.
    pub conflicts: &'static [&'static str],
}

/// The parser of a value, and the range of valid values.
pub(super) struct Rule<V> {
    read: fn(&OsStr) -> Result<V, String>,
    range: Option<Range<V>>,
}

/// A range of values.
struct Range<V> {
    expected: String,
    holds: fn(&V) -> bool,
}

impl<V: Value> Rule<V> {
    /// Reads a value, and checks its range.
    pub fn read(&self, text: &OsStr) -> Result<V, String> {
        let value = (self.read)(text)?;
        self.fault(&value).map_or(Ok(value), Err)
    }

    /// Describes the expected range; `None` if the value is in range.
    pub fn fault(&self, value: &V) -> Option<String> {
        let range = self.range.as_ref().filter(|range| !(range.holds)(value))?;
        Some(format!("expected {}", range.expected))
    }
}

impl<V: Value> Spec<V> {
    /// A flag.
    pub fn flag() -> Self {
        Self::of("")
    }

    /// A value that the help shows as `placeholder`.
    pub fn of(placeholder: &'static str) -> Self {
        Spec {
            style: Style {
                placeholder,
                ..Style::default()
            },
            rule: Rule {
                read: V::read,
                range: None,
            },
            used_for: Use::Always,
        }
    }

    /// Sets the range: a value is valid if `holds` returns true. Messages describe the range as `expected`.
    pub fn within(mut self, expected: impl Into<String>, holds: fn(&V) -> bool) -> Self {
        let expected = expected.into();
        self.rule.range = Some(Range { expected, holds });
        self
    }

    /// Reads values with this function instead of the default function for their type.
    pub fn read_by(mut self, read: fn(&OsStr) -> Result<V, String>) -> Self {
        self.rule.read = read;
        self
    }

    /// Sets the condition under which the setting has an effect on a simulation (default: always).
    pub fn used_for(mut self, what: Use) -> Self {
        self.used_for = what;
        self
    }

    /// Sets the heading in the help.
    pub fn heading(mut self, heading: &'static str) -> Self {
        self.style.heading = Some(heading);
        self
    }

    /// Adds a one-letter name.
    pub fn short(mut self, short: char) -> Self {
        self.style.short = Some(short);
        self
    }

    /// Adds an alias that the help shows.
    pub fn alias(mut self, alias: &'static str) -> Self {
        self.style.alias = Some(alias);
        self
    }

    /// Adds an alias that the help does not show.
    pub fn hidden_alias(mut self, alias: &'static str) -> Self {
        self.style.hidden_alias = Some(alias);
        self
    }

    /// Declares that a list is written as one word, with `separator` between the values.
    pub fn separated_by(mut self, separator: char) -> Self {
        self.style.separator = Some(separator);
        self
    }

    /// Makes the value optional: the option alone means `value`. Any other value must follow `=`.
    pub fn alone(mut self, value: &'static str) -> Self {
        self.style.alone = Some(value);
        self
    }

    /// Sets the help of `--no-NAME`, the flag that turns off a setting that is on by default. If `--NAME` is also
    /// given, the later of the two takes effect.
    pub fn off(mut self, help: &'static str) -> Self {
        self.style.off = Some(help);
        self
    }

    /// Allows negative numbers as values.
    pub fn signed(mut self) -> Self {
        self.style.is_signed = true;
        self
    }

    /// Makes the setting required.
    pub fn required(mut self) -> Self {
        self.style.is_required = true;
        self
    }

    /// Requires another option.
    pub fn requires(mut self, other: &'static str) -> Self {
        self.style.requires = Some(other);
        self
    }

    /// Declares that the setting conflicts with other options.
    pub fn conflicts(mut self, others: &'static [&'static str]) -> Self {
        self.style.conflicts = others;
        self
    }
}
