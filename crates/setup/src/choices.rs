//! Values that are chosen by name on the command line.

use clap::ValueEnum;
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

/// The names of all values of a type on the command line, separated by commas.
pub fn names<T: ValueEnum>() -> String {
    let values = T::value_variants().iter();
    let values = values.filter_map(ValueEnum::to_possible_value);
    let names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    names.join(", ")
}

/// The name of a value in files.
fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
