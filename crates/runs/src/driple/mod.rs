//! Summaries of inspectors' data sets, and writers for their training histories, predictions and scores.

pub mod built;
pub mod history;
pub mod predictions;
pub mod scores;
