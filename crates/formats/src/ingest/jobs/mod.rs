//! Readers of the inputs of a GPU-cluster simulation: the cluster, its jobs, and what policies know
//! about them. All are tables, in CSV or Parquet, whose columns may be in any order.
//!
//! | module | file of the original | columns |
//! |---|---|---|
//! | [`cluster`] | `vc_config.csv` | the name of a VC, `num` |
//! | [`trace`] | `cluster_full_log.csv`, `cluster_log.csv` | see there |
//! | [`profiles`] | `single_data.csv` | a workload, its usage, `label` |
//! | [`colocate`] | `colocate_info.csv` | two workloads, `speed1`, `speed2`, `gpu_util`, `gmem` |
//! | [`graphs`] | | a workload, `graph` |
//! | [`throughput`] | `cluster_throughput.csv` | `time`, `submit_gpu_job`, `submit_gpu_num` |
//! | [`forecast`] | `Venus_throughput_pred.csv` | `time`, `pred_gpu_job`, `pred_gpu_num` |
//! | [`estimates`] | `Venus_Sept_lgb.csv` | `job_id`, `priority` |
//!
//! A workload is described by `model`, `dataset`, `batchsize`, `amp`. Its usage is `speed` in
//! samples per second, `gpu_util` and `gmem_util` in percent and `gmem` in MB.

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

#[cfg(test)]
pub(super) mod testing;
