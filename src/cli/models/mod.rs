//! `gleaner train`, `gleaner predict`, `gleaner evaluate`, `gleaner explain`: the models that Lucid schedules by.

pub mod data;
pub mod evaluate;
pub mod explain;
mod monotone;
pub mod predict;
pub mod train;
mod watch;
