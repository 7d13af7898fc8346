//! What Lucid schedules GPU clusters by (Hu et al., 2023): features of its models, from plain
//! values to [`Table`](crate::Table)s.
//!
//! - [`packing`]: whether a job shares its GPUs well.
//! - [`throughput`]: how many GPU jobs will be submitted in the next ten minutes.

pub mod packing;
pub mod throughput;
