//! Writers of results: tables, run directories, event logs, JSON and texts.

pub mod answers;
pub mod compare;
pub mod driple;
pub mod evaluation;
pub mod events;
pub mod experiment;
pub mod explanation;
pub mod graphs;
pub mod inspect;
pub mod learning_curves;
pub mod lengths;
pub mod model;
pub mod number;
pub mod prediction;
pub mod prepared;
pub mod replay;
pub mod reproduce;
pub mod run;
pub mod schedule;
pub mod simulate;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod tasks;
pub mod training;
mod workloads;

mod parquet_column;
