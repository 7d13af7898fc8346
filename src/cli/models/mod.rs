//! `gleaner train`, `gleaner predict`, `gleaner evaluate` and `gleaner explain`: the models that Lucid uses for
//! scheduling.

pub mod data;
pub mod evaluate;
pub mod explain;
mod monotone;
pub mod predict;
pub mod train;
mod watch;
