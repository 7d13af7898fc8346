//! Readers of the inputs of a GPU-cluster simulation: the cluster, its jobs, and the information that policies have
//! about the jobs. All inputs are tables in CSV or Parquet, whose columns may be in any order.
//!
//! | module | file of the original |
//! |---|---|
//! | [`cluster`] | `vc_config.csv` |
//! | [`trace`] | `cluster_full_log.csv`, `cluster_log.csv` |
//! | [`profiles`] | `single_data.csv` |
//! | [`colocate`] | `colocate_info.csv` |
//! | [`graphs`] | |
//! | [`throughput`] | `cluster_throughput.csv` |
//! | [`forecast`] | `Venus_throughput_pred.csv` |
//! | [`estimates`] | `Venus_Sept_lgb.csv` |
//!
//! Each module declares the columns of its table with `input!`. dataset/README.md lists the columns of all tables.

use super::rows::{InputColumn, InputRow};
use gleaner_domain::VirtualCluster;

pub mod cluster;
pub mod colocate;
pub mod estimates;
pub mod forecast;
pub mod graphs;
pub mod packing;
pub mod profiles;
pub mod throughput;
pub mod trace;

mod bounds;
mod clock;
pub(crate) mod words;
mod workload;

/// The tables and their columns. Each table is named after its file in a data directory.
pub fn tables() -> [(&'static str, Vec<InputColumn>); 8] {
    [
        ("jobs", trace::JobRow::columns()),
        ("vc_config", VirtualCluster::columns()),
        ("single_data", profiles::ProfileRow::columns()),
        ("workloads", graphs::GraphRow::columns()),
        ("colocate_info", colocate::PairRow::columns()),
        ("throughput_pred", forecast::ForecastRow::columns()),
        ("cluster_throughput", throughput::IntervalRow::columns()),
        ("duration_estimate", estimates::EstimateRow::columns()),
    ]
}

#[cfg(test)]
pub(super) mod testing;
