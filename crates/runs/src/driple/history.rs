//! The errors of a training run in each epoch.

use std::path::Path;

use gleaner_driple::train::Epoch;

use gleaner_domain::error::Result;
use gleaner_domain::results::Table;
use gleaner_domain::results::training::EpochRow;
use gleaner_io::table::WriteTable;

/// Writes the errors of all epochs as CSV or Parquet, depending on the path's extension.
///
/// # Errors
/// The extension is neither .csv nor .parquet, or the file cannot be written.
pub fn write(history: &[Epoch], path: &Path) -> Result<()> {
    let row = |epoch: &Epoch| EpochRow {
        epoch: epoch.epoch as i64,
        train: epoch.train,
        val: epoch.val,
    };
    let rows: Vec<EpochRow> = history.iter().map(row).collect();
    Table::of("history", &rows).write_file(path)
}
