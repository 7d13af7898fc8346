//! Tests of `gleaner harvest` on a real Slurm cluster of four nodes, which scripts/slurm.sh starts on this host. If
//! Slurm is not installed, the tests report that they are skipped, or fail if `GLEANER_NEED_SLURM` is set.

#[path = "../../slurm/cluster.rs"]
#[expect(dead_code, reason = "some functions are for other tests")]
mod cluster;
mod kills;
mod normal;
mod proxy;
mod site;
mod worklog;
