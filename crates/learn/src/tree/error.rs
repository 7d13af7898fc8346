//! Errors that occur when decision trees are grown or used.

/// The reason why a tree cannot be grown or cannot predict.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// There are no rows to learn from.
    #[error("a tree needs at least one row to learn from")]
    NoRows,
    /// The numbers of labels and rows differ.
    #[error("found {labels} labels for {rows} rows, expected one label for each row")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of rows.
        rows: usize,
    },
    /// This feature is not numeric.
    #[error(
        "feature {0} contains strings, but trees split only numbers: leave it out, or convert it \
         to numbers"
    )]
    Texts(String),
    /// The table lacks this feature of the tree.
    #[error("the tree uses feature {0}, which the table lacks")]
    Missing(String),
    /// A value is infinite, so no threshold can be halfway between it and another value.
    #[error("feature {feature} is infinite in row {row}: mark it as missing, or leave the row out")]
    Infinite {
        /// Name of the feature.
        feature: String,
        /// Index of the row, from 0.
        row: usize,
    },
    /// The strength of pruning, [`Settings::ccp_alpha`](super::Settings::ccp_alpha), is negative or
    /// not finite.
    #[error("ccp_alpha is {0}, but must be finite and at least 0")]
    Alpha(f64),
}
