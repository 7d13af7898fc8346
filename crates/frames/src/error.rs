//! Errors of this crate.

use polars::prelude::{DataType, PolarsError};

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a frame could not be read or computed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The directory is missing or damaged, or is not a run directory.
    #[error(transparent)]
    Run(#[from] gleaner_domain::Error),
    /// A frame does not have the expected columns, or its values are not of the expected type.
    #[error("polars: {0}; compare with the columns and types in the frame's schema")]
    Polars(#[from] PolarsError),
    /// A column of names has an index for which there is no name.
    #[error(
        "column {column:?}: found index {index}, but only {names} names; give each index a name"
    )]
    Name {
        /// Name of the column.
        column: String,
        /// The index without a name.
        index: u32,
        /// Number of names.
        names: usize,
    },
    /// In a run of a sweep, the value of a setting does not have the setting's type.
    #[error(
        "setting {setting:?} of run {run} (counted from 0): found {found:?}, expected {expected}; \
         run the sweep again"
    )]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Index of the run.
        run: usize,
        /// The value that was found.
        found: String,
        /// The expected type of value.
        expected: &'static str,
    },
    /// The runs of a sweep have no metric with the requested name.
    #[error("unknown metric {name:?}; expected one of {}", known.join(", "))]
    NoMetric {
        /// The requested name.
        name: String,
        /// The metrics that the runs have.
        known: Vec<&'static str>,
    },
    /// The metric only describes runs, so it has no best value.
    #[error("the metric {name:?} has no best value; rank by one of {}", goals.join(", "))]
    NoGoal {
        /// The requested metric.
        name: String,
        /// The metrics that have a best value.
        goals: Vec<&'static str>,
    },
    /// The column to be aggregated is not numeric.
    #[error(
        "column {column:?}: found values of type {found}, expected numbers; name another column"
    )]
    NoNumbers {
        /// Name of the column.
        column: String,
        /// Type of the column's values.
        found: DataType,
    },
    /// Several rows have the same values in columns that should distinguish all rows.
    #[error(
        "several rows have the same values in {}; name more columns, or aggregate the rows first",
        columns.join(", ")
    )]
    Repeated {
        /// Names of the columns.
        columns: Vec<String>,
    },
    /// The run was made by a subcommand other than the requested one.
    #[error("found a run of gleaner {found}; name a run directory of gleaner {expected}")]
    Command {
        /// The subcommand that made the run.
        found: String,
        /// The requested subcommand.
        expected: &'static str,
    },
}
