//! Writers of the data sets, histories, predictions and scores of inspectors.

pub mod built;
pub mod history;
pub mod predictions;
pub mod scores;
