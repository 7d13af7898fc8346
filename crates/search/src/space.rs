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
    /// Any other number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// Text.
    Text(String),
}

impl Value {
    /// The value as a number; `None` if it is not a number.
    fn number(&self) -> Option<f64> {
        match self {
            Value::Whole(number) => Some(*number as f64),
            Value::Number(number) => Some(*number),
            Value::Flag(_) | Value::Text(_) => None,
        }
    }
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
    /// A number drawn from this distribution.
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
    /// A distribution is invalid, or a list of values is empty. Returns all faults. The field of a fault begins with
    /// the name of the hyperparameter.
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

    /// The coordinates of hyperparameters in the unit cube. The coordinate of a number is the probability that a draw
    /// is below it. The coordinate of one of k values is the middle of one of k equal intervals. The coordinate of a
    /// missing or unknown value is 0.5.
    pub fn unit(&self, parameters: &Parameters) -> Vec<f64> {
        let coordinate = |(name, parameter): (&String, &Parameter)| {
            let value = parameters.get(name)?;
            match parameter {
                Parameter::Choice(values) => {
                    let index = values.iter().position(|of| of == value)?;
                    Some((index as f64 + 0.5) / values.len() as f64)
                }
                Parameter::Draw(draw) => Some(draw.cdf(value.number()?)),
            }
        };
        let all = self.0.iter();
        all.map(|of| coordinate(of).unwrap_or(0.5)).collect()
    }

    /// The hyperparameters with these coordinates in the unit cube.
    pub(crate) fn of_unit(&self, unit: &[f64]) -> Parameters {
        let pairs = self.0.iter().zip(unit);
        let value = |((name, parameter), &x): ((&String, &Parameter), &f64)| {
            Some((name.clone(), at(parameter, x)?))
        };
        pairs.filter_map(value).collect()
    }

    /// The rank of hyperparameters among all combinations, from 0 for the best to 1 for the worst; `None` if there are
    /// no hyperparameters. Simulated searches derive the losses of trials from this rank.
    ///
    /// The best point of the unit cube is drawn with the seed. On each axis, the distance to this point is measured as
    /// if the axis were a circle, and divided by the greatest distance, 0.5. For a uniform draw, each of these d shares
    /// is uniform between 0 and 1. Their maximum m has the distribution function m^d, so m^d is also uniform. The ranks
    /// of random hyperparameters are therefore uniform between 0 and 1.
    ///
    /// Example: with the best point (0.9, 0.5), the point (0.1, 0.3) has the distances 0.2 and 0.2, the shares 0.4 and
    /// 0.4, and the rank 0.4² = 0.16.
    pub fn rank(&self, parameters: &Parameters, seed: u64) -> Option<f64> {
        let mut random = stream(seed, Purpose::Optimum, 0, 0);
        let share = |x: f64| {
            let distance = (x - random.random::<f64>()).abs();
            2.0 * distance.min(1.0 - distance)
        };
        let most = self
            .unit(parameters)
            .into_iter()
            .map(share)
            .reduce(f64::max)?;
        Some(most.powi(self.0.len() as i32))
    }

    /// Changes the hyperparameters of a trial for its copy, trial `trial`. Each hyperparameter is redrawn with
    /// probability 1/4. All other numbers are multiplied by 0.8 or 1.2 (Jaderberg et al. 2017). A number that leaves
    /// the range of its distribution is set to the end of the range.
    pub(crate) fn explore(&self, parameters: &Parameters, seed: u64, trial: u32) -> Parameters {
        let mut random = stream(seed, Purpose::Explore, 0, trial);
        let changed = self.0.iter().filter_map(|(name, parameter)| {
            let (chance, uniform): (f64, f64) = (random.random(), random.random());
            let value = parameters.get(name)?;
            let drawn = at(parameter, uniform)?;
            let value = match (parameter, value.number()) {
                _ if chance < 0.25 => drawn,
                (Parameter::Draw(draw), Some(number)) => {
                    let factor = if uniform < 0.5 { 0.8 } else { 1.2 };
                    Value::Number(draw.within(number * factor))
                }
                _ => value.clone(),
            };
            Some((name.clone(), value))
        });
        changed.collect()
    }
}

/// The value of a hyperparameter at a coordinate between 0 and 1; `None` for an empty list of values.
fn at(parameter: &Parameter, x: f64) -> Option<Value> {
    match parameter {
        Parameter::Choice(values) => {
            let index = (x * values.len() as f64) as usize;
            values.get(index.min(values.len().checked_sub(1)?)).cloned()
        }
        Parameter::Draw(draw) => Some(Value::Number(draw.quantile(x))),
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
