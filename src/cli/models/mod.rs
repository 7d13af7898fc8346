//! `gleaner train`, `gleaner predict`, `gleaner evaluate`: the models that Lucid schedules by.

pub mod data;
pub mod evaluate;
pub mod predict;
pub mod train;
