//! Text tables: rows whose cells are separated by a delimiter.
//!
//! - [`Records`] reads CSV as a stream, in which a quoted cell may span lines.
//! - [`LogTable`] reads a scheduler's log line by line. A bad line does not affect the next line,
//!   and free text may contain the delimiter.
//!
//! Both use [`ColumnNames`] to find columns.

mod dialect;
mod header;
mod log_table;
mod names;
mod records;

pub use dialect::{Cells, Dialect, Quote};
pub use header::Row;
pub use log_table::{Layout, LogTable};
pub use names::ColumnNames;
pub use names::Names;
pub use records::Records;
