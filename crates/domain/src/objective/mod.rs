//! Objectives: the quantities that the allocator can maximise.
//!
//! An objective is an expression over the [`Variable`]s of a task. Named objectives are listed in [`NAMED`]. An
//! expression is evaluated at the points of a task's scaling curve and interpolated linearly between them. The value of
//! a task without nodes is 0. See docs/OBJECTIVES.md.

mod check;
mod named;
mod own;
mod sia;
mod values;
mod variable;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use gleaner_expression::{Expression, Scaled};
use gleaner_solvers::Goal;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use check::Situation;
pub use named::{NAMED, Named};
pub use own::set_objectives;
pub use sia::Sia;
pub use values::{Constants, OutOfRange, TaskState, ValueList};
pub use variable::Variable;

/// Prefix of an expression whose goal is [`Goal::MaxMin`].
const MAX_MIN: &str = "max-min:";

/// Prefix of the name of an objective that is a Python function.
const PYTHON: &str = "python:";

/// The quantity that the allocator maximises over the window, less the cost of rescaling. A clone
/// shares the expression.
#[derive(Debug, Clone)]
pub struct Objective {
    /// The objective's name, or the text from which it was parsed.
    text: Cow<'static, str>,
    goal: Goal,
    expression: Arc<Expression>,
    /// The expression as a curve times a factor, if it has that form.
    scaled: Option<Arc<Scaled>>,
    /// The parameters of Sia's objective; `None` for other objectives. For Sia's objective, `expression` is the goodput.
    sia: Option<Sia>,
}

impl Objective {
    /// The criterion by which the best plan is chosen at every decision.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The parameters of Sia's objective; `None` if this is another objective.
    pub fn sia(&self) -> Option<Sia> {
        self.sia
    }

    /// The objective's name, or the text from which it was parsed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Creates an objective for the Python function with this name. [`set_objectives`] replaces the
    /// tasks' objective curves with the function's values.
    pub fn of_function(name: &str) -> Self {
        Objective {
            text: format!("{PYTHON}{name}").into(),
            ..Self::default()
        }
    }

    /// Whether the objective is a Python function, which this program cannot call by name.
    pub fn is_function(&self) -> bool {
        self.text.starts_with(PYTHON)
    }

    /// The objective's expression, preceded by the goal unless the goal is the total. For a Python function or Sia's
    /// objective, the objective's text.
    pub fn expression(&self) -> String {
        match self.goal {
            _ if self.is_function() || self.sia.is_some() => self.text.clone().into_owned(),
            Goal::Total => self.expression.text().to_owned(),
            Goal::MaxMin => format!("{MAX_MIN} {}", self.expression.text()),
        }
    }

    /// Whether the objective's value changes while a task runs or waits.
    pub fn varies(&self) -> bool {
        Variable::ALL
            .into_iter()
            .any(|variable| variable.varies() && self.uses(variable))
    }

    fn uses(&self, variable: Variable) -> bool {
        self.expression.uses(variable as usize)
    }

    fn of_named(named: &Named) -> Result<Self, String> {
        Self::new(named.name.into(), named.goal, named.expression)
    }

    fn new(text: Cow<'static, str>, goal: Goal, expression: &str) -> Result<Self, String> {
        let names = Variable::ALL.map(Variable::name);
        let expression = Expression::parse(expression, &names).map_err(|fault| {
            let names: Vec<&str> = NAMED.iter().map(|named| named.name).collect();
            let names = names.join(", ");
            format!(
                "{fault}; an objective is one of {names}, or an expression (docs/OBJECTIVES.md)"
            )
        })?;
        let scaled = expression.scaled(|index| Variable::ALL[index].is_of_a_point());
        // The curve must be a list that each task stores. All variables that differ between points have such a list,
        // except `nodes`.
        let scaled = scaled.filter(|scaled| scaled.variable != Variable::Nodes as usize);
        Ok(Objective {
            text,
            goal,
            expression: Arc::new(expression),
            scaled: scaled.map(Arc::new),
            sia: None,
        })
    }
}

impl FromStr for Objective {
    type Err = String;

    /// Parses the name of an objective, `sia(POWER, PENALTY)`, or an expression. `max-min:` before an
    /// expression makes its goal [`Goal::MaxMin`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(named) = NAMED.iter().find(|named| named.name == text) {
            return Self::of_named(named);
        }
        if text.starts_with("sia") {
            let sia = text.parse()?;
            return Ok(Objective {
                sia: Some(sia),
                ..Self::new(text.to_owned().into(), Goal::Total, "speedup")?
            });
        }
        let (goal, expression) = match text.strip_prefix(MAX_MIN) {
            // Spaces replace the prefix, so that columns in messages refer to the whole text.
            Some(rest) => (Goal::MaxMin, format!("{:1$}{rest}", "", MAX_MIN.len())),
            None => (Goal::Total, text.to_owned()),
        };
        Self::new(text.to_owned().into(), goal, &expression)
    }
}

impl Default for Objective {
    /// The objective curves of the task file.
    fn default() -> Self {
        #[expect(
            clippy::expect_used,
            reason = "a test parses the expression of every named objective"
        )]
        Self::of_named(&NAMED[0]).expect("named objectives are valid")
    }
}

impl PartialEq for Objective {
    /// Whether both objectives have the same name or text.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Objective {}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Objective {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Objective {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some(name) = text.strip_prefix(PYTHON) {
            return Ok(Objective::of_function(name));
        }
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
