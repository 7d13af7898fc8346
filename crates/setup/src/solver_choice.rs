//! The name of a built-in solver or of a program.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use gleaner_domain::error::{Error, Result};
use gleaner_exec_solver::{PREFIX, SolverCommand};
use gleaner_solvers::SolverKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::named::by_name;

/// The name of a solver. For a program, the command is stored as text, and the manifest has not been read yet.
#[derive(Debug, Clone, PartialEq)]
pub enum SolverName {
    /// A built-in solver.
    Ours(SolverKind),
    /// A program: `exec:COMMAND`.
    Program(String),
}

impl Default for SolverName {
    fn default() -> Self {
        SolverName::Ours(SolverKind::Auto)
    }
}

impl SolverName {
    /// Whether the solver is built in and uses a formulation.
    pub fn is_milp(&self) -> bool {
        matches!(self, SolverName::Ours(kind) if kind.is_milp())
    }

    /// Resolves the name to a solver. Paths are relative to `folder`; the empty path is the current
    /// folder.
    ///
    /// # Errors
    /// The manifest is faulty.
    pub fn seen_from(&self, folder: &Path) -> Result<SolverChoice> {
        Ok(match self {
            SolverName::Ours(kind) => SolverChoice::Ours(*kind),
            SolverName::Program(text) => {
                SolverChoice::Program(SolverCommand::seen_from(text, folder)?)
            }
        })
    }
}

impl fmt::Display for SolverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolverName::Ours(kind) => kind.serialize(f),
            SolverName::Program(text) => f.write_str(text),
        }
    }
}

impl FromStr for SolverName {
    type Err = Error;

    /// # Errors
    /// No built-in solver has this name, or the command is faulty.
    fn from_str(text: &str) -> Result<Self> {
        if text.starts_with(PREFIX) {
            SolverCommand::check(text)?;
            return Ok(SolverName::Program(text.to_owned()));
        }
        by_name(text).map(SolverName::Ours).ok_or_else(|| {
            let names: Vec<&str> = SOLVERS.iter().map(|(name, _)| *name).collect();
            Error::Usage(format!(
                "unknown solver {text:?}, expected one of {}",
                names.join(", ")
            ))
        })
    }
}

impl Serialize for SolverName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SolverName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A resolved solver.
#[derive(Debug, Clone, PartialEq)]
pub enum SolverChoice {
    /// A built-in solver.
    Ours(SolverKind),
    /// A resolved program.
    Program(SolverCommand),
}

impl SolverChoice {
    /// Whether the solver is built in and uses a formulation.
    pub fn is_milp(&self) -> bool {
        matches!(self, SolverChoice::Ours(kind) if kind.is_milp())
    }
}

impl FromStr for SolverChoice {
    type Err = Error;

    /// # Errors
    /// No built-in solver has this name, or the command or its manifest is faulty.
    fn from_str(text: &str) -> Result<Self> {
        text.parse::<SolverName>()?.seen_from(Path::new(""))
    }
}

impl Serialize for SolverChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SolverChoice::Ours(kind) => kind.serialize(serializer),
            SolverChoice::Program(command) => command.serialize(serializer),
        }
    }
}

/// The built-in solvers, each with its description in the help.
pub(crate) const SOLVERS: [(&str, &str); 6] = [
    (
        "auto",
        "exact, or highs if groups of tasks overlap without being nested or are combined with max-min",
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
    ("exec:COMMAND", "Your own program (docs/SOLVERS.md)"),
];
