//! The space of a search's hyperparameters.

use std::collections::BTreeMap;
use std::fmt;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::random::{Purpose, stream};
use crate::{Draw, Fault};

/// The hyperparameters of a trial, by name.
pub type Parameters = BTreeMap<String, Value>;

/// The value of a hyperparameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Whole(i64),
    /// Another number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => number.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Flag(flag) => flag.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

/// The distribution of a hyperparameter.
///
/// In files: `{ "log-uniform": { "low": 1e-4, "high": 0.1 } }`, or a list of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    /// One of these values, each with the same probability.
    Choice(Vec<Value>),
    /// A number.
    Draw(Draw),
}

/// The hyperparameters of a search, by name, with their distributions.
///
/// ```
/// use gleaner_search::{Draw, Parameter, Space};
///
/// let rate = Parameter::Draw(Draw::LogUniform { low: 1e-4, high: 0.1 });
/// let space = Space([("lr".to_owned(), rate)].into());
/// assert_eq!(space.draw(7, 3), space.draw(7, 3));
/// assert_ne!(space.draw(7, 3), space.draw(7, 4));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Space(pub BTreeMap<String, Parameter>);

impl Space {
    /// Checks the distributions.
    ///
    /// # Errors
    /// Returns all faults. The field of a fault begins with the name of the hyperparameter.
    pub fn validate(&self) -> Result<(), Vec<Fault>> {
        let faults = self.0.iter().flat_map(|(name, parameter)| match parameter {
            Parameter::Choice(values) if values.is_empty() => {
                vec![Fault::new(name, "an empty list", "at least one value")]
            }
            Parameter::Choice(_) => Vec::new(),
            Parameter::Draw(draw) => draw.faults(name, None),
        });
        let faults: Vec<Fault> = faults.collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults)
        }
    }

    /// The hyperparameters of a trial, which depend only on the space, the seed and the trial. A hyperparameter with an
    /// empty list of values is omitted.
    pub fn draw(&self, seed: u64, trial: u32) -> Parameters {
        let mut random = stream(seed, Purpose::Parameters, 0, trial);
        let drawn = self.0.iter().filter_map(|(name, parameter)| {
            let value = match parameter {
                Parameter::Draw(draw) => Value::Number(draw.from(&mut random)),
                Parameter::Choice(values) => {
                    // Consumes two random numbers, as a draw does, so that the values of later hyperparameters do not
                    // depend on whether this one is a list.
                    let (first, _): (f64, f64) = (random.random(), random.random());
                    let index = (first * values.len() as f64) as usize;
                    values.get(index)?.clone()
                }
            };
            Some((name.clone(), value))
        });
        drawn.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> Space {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn values_are_drawn_from_their_distributions() {
        let space = space(
            r#"{"depth": [2, 4.5, "deep", true], "lr": {"log-uniform": {"low": 0.001, "high": 0.1}}}"#,
        );
        assert_eq!(space.validate(), Ok(()));
        let mut depths = Vec::new();
        for trial in 0..100 {
            let drawn = space.draw(1, trial);
            let Value::Number(rate) = drawn["lr"] else {
                panic!("{drawn:?}");
            };
            assert!((0.001..=0.1).contains(&rate), "{rate}");
            depths.push(drawn["depth"].to_string());
        }
        depths.sort();
        depths.dedup();
        assert_eq!(depths, ["2", "4.5", "deep", "true"]);
        assert_ne!(space.draw(1, 0), space.draw(2, 0));
    }

    #[test]
    fn a_draw_does_not_depend_on_the_kinds_before_it() {
        let rate = r#""rate": {"uniform": {"low": 0, "high": 1}}"#;
        let one = space(&format!(r#"{{"a": [1, 2], {rate}}}"#));
        let other = space(&format!(
            r#"{{"a": {{"normal": {{"mean": 0, "deviation": 1}}}}, {rate}}}"#
        ));
        assert_eq!(one.draw(5, 9)["rate"], other.draw(5, 9)["rate"]);
    }

    #[test]
    fn faults_name_the_parameter() {
        let wrong = space(r#"{"a": [], "b": {"uniform": {"low": 2, "high": 1}}}"#);
        let faults = wrong.validate().unwrap_err();
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
        assert_eq!(fields, ["a", "b.uniform.high"]);
        assert!(wrong.draw(0, 0).contains_key("b"));
    }
}
