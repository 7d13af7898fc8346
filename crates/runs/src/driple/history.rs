//! The errors of a training, epoch by epoch.

use std::path::Path;

use gleaner_driple::train::Epoch;

use gleaner_domain::error::Result;
use gleaner_domain::results::{Column, Table};
use gleaner_io::table::WriteTable;

/// Writes the errors of all epochs as CSV or Parquet, depending on the path's extension.
///
/// # Errors
/// The extension is another one, or the file cannot be written.
pub fn write(history: &[Epoch], path: &Path) -> Result<()> {
    let table = Table {
        name: "history",
        columns: vec![
            (
                "epoch",
                Column::Whole(history.iter().map(|epoch| epoch.epoch as i64).collect()),
            ),
            (
                "train",
                Column::Floats(history.iter().map(|epoch| Some(epoch.train)).collect()),
            ),
            (
                "val",
                Column::Floats(history.iter().map(|epoch| epoch.val).collect()),
            ),
        ],
    };
    table.write_file(path)
}
