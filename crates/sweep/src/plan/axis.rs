//! One setting of a plan: a value, or a list of values.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// A setting of a plan; `None` if it is not given.
pub(super) type Setting<T> = Option<Spanned<Axis<T>>>;

/// The values of a setting, in the order of the plan; a single value is a list of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Axis<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AxisVisitor(PhantomData))
    }
}

struct AxisVisitor<T>(PhantomData<T>);

/// Visits a single value of some type.
macro_rules! single {
    ($($visit:ident: $type:ty),*) => {$(
        fn $visit<E: Error>(self, value: $type) -> Result<Self::Value, E> {
            Ok(Axis(vec![T::deserialize(value.into_deserializer())?]))
        }
    )*};
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for AxisVisitor<T> {
    type Value = Axis<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a list of values")
    }

    single!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Ok(Axis(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Axis)
    }
}

/// The values of a setting; only `default` if it is not given.
pub(super) fn values<T: Clone>(setting: &Setting<T>, default: T) -> Vec<T> {
    match setting {
        Some(setting) => setting.get_ref().0.clone(),
        None => vec![default],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Plan {
        numbers: Axis<f64>,
        texts: Axis<String>,
    }

    #[test]
    fn a_value_is_a_list_of_one() {
        let plan: Plan = toml::from_str("numbers = 3\ntexts = ['a', 'b']").unwrap();
        assert_eq!(plan.numbers, Axis(vec![3.0]));
        assert_eq!(plan.texts.0, ["a", "b"]);
        let wrong = toml::from_str::<Plan>("numbers = 3\ntexts = ['a', 2]").unwrap_err();
        assert!(wrong.message().contains("expected a string"), "{wrong}");
        assert_eq!(wrong.span().map(|s| s.start >= 12), Some(true));
    }
}
