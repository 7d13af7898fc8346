//! Values of a plan that are written as on the command line.

use std::fmt::Display;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// A value parsed from its text. A plan may also give it as a number or a TOML time.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T>(pub T);

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) => text,
            other => other.to_string(),
        };
        text.parse().map(Parsed).map_err(serde::de::Error::custom)
    }
}
