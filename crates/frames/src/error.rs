//! Errors of this crate.

use polars::prelude::{DataType, PolarsError};

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run directory is missing, damaged, or not one of a run.
    #[error(transparent)]
    Run(#[from] gleaner_domain::Error),
    /// A frame does not have the expected columns, or its values are not of the expected type.
    #[error("polars: {0}; compare with the columns and types in the frame's schema")]
    Polars(#[from] PolarsError),
    /// A column of names has an index without a name.
    #[error(
        "column {column:?}: found the index {index} into {names} names; give each index its name"
    )]
    Name {
        /// The column.
        column: String,
        /// The index.
        index: u32,
        /// Number of names.
        names: usize,
    },
    /// A run of a sweep has a setting that is not of its type.
    #[error(
        "setting {setting:?} of run {run}, counted from 0: found {found:?}, expected {expected}; \
         run the sweep again"
    )]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Index of the run.
        run: usize,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// The runs of a sweep have no such figure.
    #[error("found no figure {name:?}; name one of {}", known.join(", "))]
    NoMetric {
        /// The name asked for.
        name: String,
        /// The figures that there are.
        known: Vec<&'static str>,
    },
    /// The figure only describes runs: none of its values is the best.
    #[error("the figure {name:?} has no best value; rank by one of {}", goals.join(", "))]
    NoGoal {
        /// The figure asked for.
        name: String,
        /// The figures that have a best value.
        goals: Vec<&'static str>,
    },
    /// A column that is aggregated does not hold numbers.
    #[error(
        "column {column:?}: found values of type {found}, expected numbers; name another column"
    )]
    NoNumbers {
        /// The column.
        column: String,
        /// Type of its values.
        found: DataType,
    },
    /// Several rows have the same values in columns that should tell all rows apart.
    #[error(
        "several rows are equal in {}; name more columns, or aggregate the rows first",
        columns.join(", ")
    )]
    Repeated {
        /// The columns.
        columns: Vec<String>,
    },
    /// The run is one of another subcommand.
    #[error("found a run of gleaner {found}; name a run directory of gleaner {expected}")]
    Command {
        /// The subcommand that made the run.
        found: String,
        /// The subcommand that was asked for.
        expected: &'static str,
    },
}
