//! What a declaration says of a setting besides its name, type, default and help.

use std::ffi::OsStr;

use super::value::Value;
use crate::experiment::Use;

/// What a declaration says of a setting with values `V`.
pub struct Spec<V> {
    pub(super) style: Style,
    pub(super) rule: Rule<V>,
    pub(super) used_for: Use,
}

/// How the command line presents a setting.
#[derive(Debug, Clone, Default)]
pub struct Style {
    /// Placeholder of the value in the help, such as `SECONDS`. Empty for flags.
    pub placeholder: &'static str,
    /// Heading in the help, if it is not that of the struct.
    pub heading: Option<&'static str>,
    /// Name of one letter.
    pub short: Option<char>,
    /// Another name that the help shows.
    pub alias: Option<&'static str>,
    /// Another name that the help does not show.
    pub hidden_alias: Option<&'static str>,
    /// What separates the values of a list that is one word.
    pub separator: Option<char>,
    /// The value that an option without one has.
    pub alone: Option<&'static str>,
    /// Help of the flag that switches it on, if it is on by default.
    pub counterpart: Option<&'static str>,
    /// Whether the value may be a negative number.
    pub is_signed: bool,
    /// Whether it must be given.
    pub is_required: bool,
    /// Another option that must be given too.
    pub requires: Option<&'static str>,
    /// Other options that must not be given.
    pub conflicts: &'static [&'static str],
}

/// Which values are valid.
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

    /// What was expected, if the value is out of range.
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

    /// Values are in range if `holds`; messages call the range `expected`.
    pub fn within(mut self, expected: impl Into<String>, holds: fn(&V) -> bool) -> Self {
        let expected = expected.into();
        self.rule.range = Some(Range { expected, holds });
        self
    }

    /// Reads values with another function than that of their type.
    pub fn read_by(mut self, read: fn(&OsStr) -> Result<V, String>) -> Self {
        self.rule.read = read;
        self
    }

    /// States when it has an effect on a simulation (default: always).
    pub fn used_for(mut self, what: Use) -> Self {
        self.used_for = what;
        self
    }

    /// Sets the heading in the help.
    pub fn heading(mut self, heading: &'static str) -> Self {
        self.style.heading = Some(heading);
        self
    }

    /// Adds a name of one letter.
    pub fn short(mut self, short: char) -> Self {
        self.style.short = Some(short);
        self
    }

    /// Adds another name, which the help shows.
    pub fn alias(mut self, alias: &'static str) -> Self {
        self.style.alias = Some(alias);
        self
    }

    /// Adds another name, which the help does not show.
    pub fn hidden_alias(mut self, alias: &'static str) -> Self {
        self.style.hidden_alias = Some(alias);
        self
    }

    /// Makes a list one word, in which `separator` separates the values.
    pub fn separated_by(mut self, separator: char) -> Self {
        self.style.separator = Some(separator);
        self
    }

    /// Makes the value optional: the option alone stands for `value`. A value follows after `=`.
    pub fn alone(mut self, value: &'static str) -> Self {
        self.style.alone = Some(value);
        self
    }

    /// Adds a flag that switches on what is on by default, with its help. It overrides `--no-NAME`.
    pub fn counterpart(mut self, help: &'static str) -> Self {
        self.style.counterpart = Some(help);
        self
    }

    /// Allows negative numbers as values.
    pub fn signed(mut self) -> Self {
        self.style.is_signed = true;
        self
    }

    /// Requires the option itself.
    pub fn required(mut self) -> Self {
        self.style.is_required = true;
        self
    }

    /// Requires another option.
    pub fn requires(mut self, other: &'static str) -> Self {
        self.style.requires = Some(other);
        self
    }

    /// Rejects other options beside this one.
    pub fn conflicts(mut self, others: &'static [&'static str]) -> Self {
        self.style.conflicts = others;
        self
    }
}
