//! Tables of workloads and the files of their graphs.

use std::path::Path;

use super::table::{Column, Table};
use crate::domain::Workload;
use crate::error::Result;

/// Writes the workloads and the files of their graphs, whose paths are as seen from the table.
///
/// # Errors
/// A file that cannot be written.
pub fn write(rows: &[(&Workload, &str)], path: &Path) -> Result<()> {
    let text = |of: fn(&Workload) -> &str| {
        Column::Texts(
            rows.iter()
                .map(|(workload, _)| of(workload).into())
                .collect(),
        )
    };
    let whole = |of: fn(&Workload) -> i64| {
        Column::Whole(rows.iter().map(|(workload, _)| of(workload)).collect())
    };
    let files = rows.iter().map(|(_, file)| (*file).into());
    let table = Table {
        name: "workloads",
        columns: vec![
            ("graph", Column::Texts(files.collect())),
            ("model", text(|workload| &workload.model)),
            ("dataset", text(|workload| &workload.dataset)),
            (
                "batchsize",
                whole(|workload| i64::from(workload.batch_size)),
            ),
            ("amp", whole(|workload| i64::from(workload.amp))),
        ],
    };
    table.write_file(path)
}
