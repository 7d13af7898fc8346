//! Values that are chosen by name on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

/// Parses one of `values` by its name in files. The help lists each with its description.
pub fn one_of<T>(values: &'static [(T, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + Serialize + 'static,
{
    let listed = values.iter();
    let listed = listed.map(|(value, help)| PossibleValue::new(name(value)).help(*help));
    PossibleValuesParser::new(listed).try_map(|text| {
        let found = values.iter().find(|(value, _)| name(value) == text);
        found.map(|(value, _)| value.clone()).ok_or("unknown name")
    })
}

/// The name of a value in files.
fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
