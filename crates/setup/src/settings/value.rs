//! Types of the values of settings.

use std::ffi::OsStr;
use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::TFwd;
use gleaner_domain::{Local, Objective, Stamp};
use gleaner_exec_solver::SolverCommand;

use crate::SolverName;

/// The form of a value in a file, such as a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `true` or `false`.
    Truth,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A path.
    Path,
    /// A string, a number or a time.
    Any,
}

/// The number of values that a setting can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A flag, which is on or off.
    Flag,
    /// At most one value.
    One,
    /// Any number of values.
    List,
}

/// A type of single values.
pub trait Value: Clone + Send + Sync + 'static {
    /// The form of a value in files.
    const FORM: Form;

    /// Whether only [`Value::named`] values are valid.
    const IS_CLOSED: bool = false;

    /// Reads a value.
    ///
    /// # Errors
    /// The string is not a valid value. The error is a message that states what is wrong with the string, or what was
    /// expected.
    fn read(text: &OsStr) -> Result<Self, String>;

    /// Formats the value as a string that [`Value::read`] accepts.
    fn show(&self) -> String;

    /// Resolves a path against the given folder. Returns other values unchanged.
    fn seen_from(self, _: &Path) -> Self {
        self
    }

    /// The named values, each with its meaning. The meaning may be empty.
    fn named() -> Vec<(String, &'static str)> {
        Vec::new()
    }
}

/// A type of settings: a single value, an optional value or a list.
pub trait Field: Clone + Send + Sync + 'static {
    /// The type of single values.
    type Value: Value;

    /// The number of values that the setting can have.
    const KIND: Kind;

    /// Creates the setting from the given values; `None` if there are too few of them.
    fn of(values: Vec<Self::Value>) -> Option<Self>;

    /// Values of the setting.
    fn values(&self) -> Vec<&Self::Value>;
}

impl<T: Value> Field for T {
    type Value = T;
    const KIND: Kind = match T::FORM {
        Form::Truth => Kind::Flag,
        _ => Kind::One,
    };

    fn of(mut values: Vec<T>) -> Option<T> {
        values.pop()
    }

    fn values(&self) -> Vec<&T> {
        vec![self]
    }
}

impl<T: Value> Field for Option<T> {
    type Value = T;
    const KIND: Kind = Kind::One;

    fn of(mut values: Vec<T>) -> Option<Self> {
        values.pop().map(Some)
    }

    fn values(&self) -> Vec<&T> {
        self.iter().collect()
    }
}

impl<T: Value> Field for Vec<T> {
    type Value = T;
    const KIND: Kind = Kind::List;

    fn of(values: Vec<T>) -> Option<Self> {
        Some(values)
    }

    fn values(&self) -> Vec<&T> {
        self.iter().collect()
    }
}

/// Parses a value from UTF-8.
pub(crate) fn parse<T: FromStr<Err: Display>>(text: &OsStr) -> Result<T, String> {
    let text = text.to_str().ok_or_else(|| "expected UTF-8".to_owned())?;
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Implements [`Value`] through [`FromStr`] and [`Display`]. For a type that contains a path, `seen by` names the
/// function that resolves the path against a folder.
macro_rules! by_text {
    ($($type:ty: $form:ident $(seen by $seen_from:path)?),* $(,)?) => {$(
        impl $crate::settings::Value for $type {
            const FORM: $crate::settings::Form = $crate::settings::Form::$form;

            fn read(text: &std::ffi::OsStr) -> Result<Self, String> {
                $crate::settings::value::parse(text)
            }

            $(
                fn seen_from(self, folder: &std::path::Path) -> Self {
                    $seen_from(self, folder)
                }
            )?

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

by_text!(
    bool: Truth,
    String: Text,
    Stamp: Any,
    Local: Any,
    TFwd: Any,
);

/// Implements [`Value`] for types of whole numbers.
macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            const FORM: Form = Form::Whole;

            fn read(text: &OsStr) -> Result<Self, String> {
                let (least, most) = (<$type>::MIN, <$type>::MAX);
                parse(text).map_err(|_| format!("expected a whole number from {least} to {most}"))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

whole_numbers!(u32, u64, usize, NonZeroUsize);

impl Value for f64 {
    const FORM: Form = Form::Number;

    fn read(text: &OsStr) -> Result<Self, String> {
        parse(text).map_err(|_| "expected a number such as 0.25".to_owned())
    }

    /// Formats the number in plain or scientific notation, whichever is shorter: 1e-9 instead of 0.000000001.
    fn show(&self) -> String {
        let (plain, scientific) = (format!("{self}"), format!("{self:e}"));
        if scientific.len() < plain.len() {
            scientific
        } else {
            plain
        }
    }
}

impl Value for PathBuf {
    const FORM: Form = Form::Path;

    fn read(text: &OsStr) -> Result<Self, String> {
        if text.is_empty() {
            return Err("expected a path".to_owned());
        }
        Ok(text.into())
    }

    fn seen_from(self, folder: &Path) -> Self {
        folder.join(self)
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl Value for SolverCommand {
    const FORM: Form = Form::Text;

    fn read(text: &OsStr) -> Result<Self, String> {
        parse(text)
    }

    fn show(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Value for Objective {
    const FORM: Form = Form::Text;

    fn read(text: &OsStr) -> Result<Self, String> {
        parse(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn named() -> Vec<(String, &'static str)> {
        let named = gleaner_domain::objective::NAMED.iter();
        named.map(|of| (of.name.to_owned(), of.meaning)).collect()
    }
}

impl Value for SolverName {
    const FORM: Form = Form::Text;

    fn read(text: &OsStr) -> Result<Self, String> {
        parse(text)
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn named() -> Vec<(String, &'static str)> {
        let named = crate::solver_choice::SOLVERS.iter();
        named
            .map(|(name, help)| ((*name).to_owned(), *help))
            .collect()
    }
}

/// Implements `Value` for a type with a fixed list of values, each with its meaning. The command line uses the
/// same names as files.
#[macro_export]
macro_rules! named_values {
    ($type:ty: $($value:expr => $meaning:expr),* $(,)?) => {
        impl $crate::settings::Value for $type {
            const FORM: $crate::settings::Form = $crate::settings::Form::Text;
            const IS_CLOSED: bool = true;

            fn read(text: &std::ffi::OsStr) -> Result<Self, String> {
                let values = [$($value),*];
                let found = values.iter().find(|value| text == $crate::named::name(*value).as_str());
                found.cloned().ok_or_else(|| {
                    format!("expected one of {}", $crate::named::names(&values))
                })
            }

            fn show(&self) -> String {
                $crate::named::name(self)
            }

            fn named() -> Vec<(String, &'static str)> {
                vec![$(($crate::named::name(&$value), $meaning)),*]
            }
        }
    };
}

pub(crate) use {by_text, named_values};
