//! The columns of a workload and of its usage of GPUs.

use super::bounds::amount;
use gleaner_core::domain::{Usage, Workload};
use gleaner_core::error::Result;
use gleaner_io::rows::{CellResult, Col, Header, Row};

/// The columns that say what a job trains.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkloadColumns {
    model: Col,
    dataset: Col,
    batch_size: Col,
    amp: Col,
}

const NAMES: [&str; 4] = ["model", "dataset", "batchsize", "amp"];

impl WorkloadColumns {
    /// Requests the columns. Their names end in `suffix`.
    pub fn require(header: &mut Header<'_>, suffix: &str) -> Result<Self> {
        let mut column = |name: &str, holds| header.require(&[&format!("{name}{suffix}")], holds);
        Ok(WorkloadColumns {
            model: column("model", "the model")?,
            dataset: column("dataset", "the dataset")?,
            batch_size: column("batchsize", "the samples a batch")?,
            amp: column("amp", "whether precision is mixed")?,
        })
    }

    /// Requests all the columns if the table has at least one of them.
    pub fn optional(header: &mut Header<'_>) -> Result<Option<Self>> {
        let any = NAMES.iter().any(|name| header.has(name));
        any.then(|| Self::require(header, "")).transpose()
    }

    /// The column of the model. Messages use it for the whole workload.
    pub fn model(&self) -> Col {
        self.model
    }

    /// The workload of a row, all of whose cells must be filled.
    pub fn read(&self, row: &Row<'_>) -> CellResult<Workload> {
        let batch_size = row.cell(self.batch_size);
        let samples = batch_size.integer(1..=i64::from(u32::MAX))?;
        Ok(Workload {
            model: row.cell(self.model).text()?.into_owned(),
            dataset: row.cell(self.dataset).text()?.into_owned(),
            batch_size: u32::try_from(samples).map_err(|_| batch_size.fault("fewer"))?,
            amp: row.cell(self.amp).flag()?,
        })
    }

    /// The workload of a row; `None` if all its cells are empty.
    pub fn given(&self, row: &Row<'_>) -> CellResult<Option<Workload>> {
        let columns = [self.model, self.dataset, self.batch_size, self.amp];
        let missing = columns.map(|col| row.cell(col).is_missing());
        if missing == [true; 4] {
            return Ok(None);
        }
        let workload = self.read(row).map_err(|mut fault| {
            if missing.contains(&true) {
                fault.remedy = format!("fill in all of {}, or none", NAMES.join(", "));
            }
            fault
        });
        workload.map(Some)
    }
}

/// The columns that say how a workload uses its GPUs.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsageColumns {
    speed: Option<Col>,
    gpu_util: Option<Col>,
    gmem_util: Option<Col>,
    gmem: Option<Col>,
}

impl UsageColumns {
    /// Requests the columns. Only `speed` may be missing, because no policy uses it.
    pub fn require(header: &mut Header<'_>) -> Result<Self> {
        let speed = header.optional(&["speed"])?;
        let mut column = |name: &str, holds| header.require(&[name], holds).map(Some);
        Ok(UsageColumns {
            speed,
            gpu_util: column("gpu_util", "the percentage of compute used")?,
            gmem_util: column("gmem_util", "the percentage of memory bandwidth used")?,
            gmem: column("gmem", "the MB of memory held")?,
        })
    }

    /// Requests the columns that the table has.
    pub fn optional(header: &mut Header<'_>) -> Result<Self> {
        let mut column = |name: &str| header.optional(&[name]);
        Ok(UsageColumns {
            speed: column("speed")?,
            gpu_util: column("gpu_util")?,
            gmem_util: column("gmem_util")?,
            gmem: column("gmem")?,
        })
    }

    /// The usage of a row. Only the cell of `speed` may be empty.
    pub fn read(&self, row: &Row<'_>) -> CellResult<Usage> {
        let of = |col: Option<Col>| col.map_or(Ok(0.0), |col| amount(&row.cell(col)));
        Ok(Usage {
            speed: row
                .given(self.speed)
                .map_or(Ok(0.0), |cell| amount(&cell))?,
            gpu_util: of(self.gpu_util)?,
            gmem_util: of(self.gmem_util)?,
            gmem: of(self.gmem)?,
        })
    }

    /// The usage of a row. Empty cells are filled from `known`.
    pub fn read_or(&self, row: &Row<'_>, known: Usage) -> CellResult<Usage> {
        let of = |col, known| row.given(col).map_or(Ok(known), |cell| amount(&cell));
        Ok(Usage {
            speed: of(self.speed, known.speed)?,
            gpu_util: of(self.gpu_util, known.gpu_util)?,
            gmem_util: of(self.gmem_util, known.gmem_util)?,
            gmem: of(self.gmem, known.gmem)?,
        })
    }
}
