//! Writes tables that list workloads and the paths of their graph files.

use std::path::Path;

use crate::workloads;
use gleaner_domain::Workload;
use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table};
use gleaner_io::table::WriteTable;

/// Writes a table of workloads and the paths of their graph files. The paths are relative to the
/// table's folder.
///
/// # Errors
/// The file cannot be written.
pub fn write(rows: &[(&Workload, &str)], path: &Path) -> Result<()> {
    let files = rows.iter().map(|(_, file)| (*file).into());
    let mut columns = vec![("graph", Column::Texts(files.collect()))];
    columns.extend(workloads::columns(
        rows.iter().map(|(workload, _)| *workload),
    ));
    let name = "workloads";
    Table { name, columns }.write_file(path)
}
