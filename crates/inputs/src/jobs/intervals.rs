//! Columns of tables of what is submitted in each interval.

use gleaner_core::error::Result;
use gleaner_io::rows::{Col, Header};

/// Names of the columns of submitted jobs and GPUs.
pub(super) const SUBMITTED: [&str; 2] = ["submit_gpu_job", "submit_gpu_num"];

/// The columns of a table of intervals.
pub(super) struct Columns {
    pub time: Col,
    pub jobs: Col,
    pub gpus: Col,
}

impl Columns {
    /// Asks for the columns. The jobs and the GPUs that they ask for have these names.
    ///
    /// # Errors
    /// A column is missing.
    pub fn require(header: &mut Header<'_>, [jobs, gpus]: [&str; 2]) -> Result<Self> {
        Ok(Columns {
            time: header.require(&["time"], "the start of each interval")?,
            jobs: header.require(&[jobs], "the GPU jobs submitted in it")?,
            gpus: header.require(&[gpus], "the GPUs they ask for")?,
        })
    }
}
