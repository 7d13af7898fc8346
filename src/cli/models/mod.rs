//! `gleaner train`, `gleaner predict`: the models that Lucid schedules by.

pub mod data;
pub mod predict;
pub mod train;
