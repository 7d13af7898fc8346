//! One of our solvers by name, or a program.

use std::fmt;
use std::str::FromStr;

use gleaner_core::error::{Error, Result};
use gleaner_external::{PREFIX, SolverCommand};
use gleaner_solvers::SolverKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Which solver answers.
#[derive(Debug, Clone, PartialEq)]
pub enum SolverChoice {
    /// One of ours.
    Ours(SolverKind),
    /// A program: `exec:COMMAND`.
    Program(SolverCommand),
}

impl Default for SolverChoice {
    fn default() -> Self {
        SolverChoice::Ours(SolverKind::Auto)
    }
}

impl SolverChoice {
    /// Whether it is one of ours that uses a formulation.
    pub fn is_milp(&self) -> bool {
        matches!(self, SolverChoice::Ours(kind) if kind.is_milp())
    }
}

impl fmt::Display for SolverChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverChoice::Ours(kind) => kind.serialize(f),
            SolverChoice::Program(command) => f.write_str(command.as_str()),
        }
    }
}

impl FromStr for SolverChoice {
    type Err = Error;

    /// # Errors
    /// No solver of ours has this name; a faulty command or manifest.
    fn from_str(text: &str) -> Result<Self> {
        if text.starts_with(PREFIX) {
            return Ok(SolverChoice::Program(text.parse()?));
        }
        let name = de::value::StrDeserializer::<de::value::Error>::new(text);
        let kind = SolverKind::deserialize(name);
        kind.map(SolverChoice::Ours).map_err(|_| {
            let names: Vec<&str> = SOLVERS.iter().map(|(name, _)| *name).collect();
            Error::Usage(format!(
                "solver {text:?}, expected one of {}",
                names.join(", ")
            ))
        })
    }
}

impl Serialize for SolverChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SolverChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// The solvers, and what the help says of each.
pub(crate) const SOLVERS: [(&str, &str); 6] = [
    (
        "auto",
        "exact, or highs if groups of tasks cross or are combined with max-min",
    ),
    (
        "exact",
        "Relaxation and dynamic programming. Every plan is proven optimal",
    ),
    ("highs", "The MILP solver HiGHS"),
    ("cbc", "The MILP solver CBC"),
    (
        "equal-share",
        "The heuristic of the original (-mip 0): equal shares",
    ),
    ("exec:COMMAND", "A program of yours (docs/SOLVERS.md)"),
];
