//! Values that are chosen by name on the command line.

use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use crate::named::name;

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

/// Parses any text that is a `T`. The help lists the names that have a meaning of their own, each with
/// its description.
pub(crate) struct ListedOrText<T> {
    listed: &'static [(&'static str, &'static str)],
    value: PhantomData<fn() -> T>,
}

impl<T> ListedOrText<T> {
    pub const fn new(listed: &'static [(&'static str, &'static str)]) -> Self {
        ListedOrText {
            listed,
            value: PhantomData,
        }
    }
}

impl<T> Clone for ListedOrText<T> {
    fn clone(&self) -> Self {
        Self::new(self.listed)
    }
}

impl<T> TypedValueParser for ListedOrText<T>
where
    T: FromStr + Clone + Send + Sync + 'static,
    T::Err: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<T, clap::Error> {
        clap::builder::StringValueParser::new()
            .try_map(|text| text.parse::<T>())
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let listed = self.listed.iter();
        Some(Box::new(
            listed.map(|(name, help)| PossibleValue::new(*name).help(*help)),
        ))
    }
}
