//! Values that are written as names in files.

use serde::de::value::{Error, StrDeserializer};
use serde::{Deserialize, Serialize};

/// The name that files use for a value.
pub fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The names of the values, separated by commas.
pub fn names(values: &[impl Serialize]) -> String {
    let names: Vec<String> = values.iter().map(name).collect();
    names.join(", ")
}

/// The value that has this name in files; `None` if the name is unknown.
pub(crate) fn by_name<'n, T: Deserialize<'n>>(name: &'n str) -> Option<T> {
    T::deserialize(StrDeserializer::<Error>::new(name)).ok()
}
