//! Why a tree cannot be grown or asked.

/// Why a tree cannot be grown or asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// No row to learn from.
    #[error("a tree needs at least one row to learn from")]
    NoRows,
    /// Not a label for each row.
    #[error("{labels} labels for {rows} rows")]
    Labels {
        /// The labels.
        labels: usize,
        /// The rows.
        rows: usize,
    },
    /// A feature that is not numeric.
    #[error("feature {0} is of texts, and trees split numbers only: leave it out or number it")]
    Texts(String),
    /// A feature of the tree that a table lacks.
    #[error("the tree asks for feature {0}, which the table lacks")]
    Missing(String),
    /// A value that lies between no two others.
    #[error("feature {feature} is infinite in row {row}: mark it as missing, or leave the row out")]
    Infinite {
        /// The feature.
        feature: String,
        /// The row, from 0.
        row: usize,
    },
    /// A strength of pruning that is none.
    #[error("ccp_alpha is {0}, but has to be finite and at least 0")]
    Alpha(f64),
}
