//! The columns of a trace.

use crate::jobs::workload::{UsageColumns, WorkloadColumns};
use gleaner_core::error::Result;
use gleaner_io::rows::{Col, Header};

/// The columns of a trace; `None` for optional ones that it lacks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub id: Col,
    pub vc: Col,
    pub gpus: Col,
    pub submit: Col,
    pub duration: Col,
    pub user: Option<Col>,
    pub name: Option<Col>,
    pub cpus: Option<Col>,
    pub state: Option<Col>,
    pub workload: Option<WorkloadColumns>,
    pub usage: UsageColumns,
}

impl Columns {
    /// Requests the columns from a header.
    pub fn pick(header: &mut Header<'_>) -> Result<Self> {
        // Philly's jobs have no `job_id`; `jobname` is then the id, not a name.
        let named = header.has("job_id");
        Ok(Columns {
            id: header.require(&["job_id", "jobname"], "the job's id")?,
            vc: header.require(&["vc"], "the job's virtual cluster")?,
            gpus: header.require(&["gpu_num"], "the job's GPUs")?,
            submit: header.require(&["submit_time"], "the time of its submission")?,
            duration: header.require(&["duration"], "the seconds it runs")?,
            user: header.optional(&["user"])?,
            name: match named {
                true => header.optional(&["jobname"])?,
                false => None,
            },
            cpus: header.optional(&["cpu_num"])?,
            state: header.optional(&["state"])?,
            workload: WorkloadColumns::optional(header)?,
            usage: UsageColumns::optional(header)?,
        })
    }
}
