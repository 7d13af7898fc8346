//! A table in a log that is read line by line.

use super::header::{Header, Row};
use super::names::Names;
use crate::input::Line;
use gleaner_domain::error::Result;

/// The columns of a table, and the way in which its cells are separated.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The requested columns, each with the names that it can have.
    pub columns: &'static [Names],
    /// The indices of the required columns.
    pub required: &'static [usize],
    /// Whether the table is CSV with quoted cells. If false, cells are usually not quoted, as in the output of Slurm's
    /// commands. The delimiter is then the user-specified delimiter if the header contains it. Otherwise, it is
    /// detected from the header.
    pub quoted: bool,
    /// The remedy that messages about missing columns suggest.
    pub remedy: fn() -> String,
}

/// A table whose first line is its header.
#[derive(Debug)]
pub struct LogTable {
    layout: Layout,
    delimiter: Option<String>,
    header: Option<Header>,
}

impl LogTable {
    /// A table with this layout. `delimiter` is the user-specified delimiter, if any.
    pub fn new(layout: Layout, delimiter: Option<String>) -> Self {
        LogTable {
            layout,
            delimiter,
            header: None,
        }
    }

    /// Starts reading another file, which has its own header.
    pub fn begin(&mut self) {
        self.header = None;
    }

    /// Whether the table has a requested column. Returns false before the header is read.
    pub fn has(&self, wanted: usize) -> bool {
        self.header
            .as_ref()
            .is_some_and(|header| header.has(wanted))
    }

    /// Reads the header from `text`, which need not come from the file. `line` is used only for messages.
    ///
    /// # Errors
    /// Required columns are missing.
    pub fn take_header(&mut self, text: &str, line: &Line<'_>) -> Result<()> {
        let delimiter = self.delimiter.as_deref();
        self.header = Some(Header::find(text, line.place, delimiter, &self.layout)?);
        Ok(())
    }

    /// Splits a line into cells. The inner error describes what is wrong with the line. Returns `None` if the line is
    /// the header, or repeats it, as in concatenated files.
    ///
    /// # Errors
    /// The header lacks required columns.
    pub fn row<'l>(&mut self, line: &'l Line<'_>) -> Result<Option<Result<Row<'_, 'l>, String>>> {
        if self.header.is_none() {
            self.take_header(&line.text, line)?;
        }
        let header = self.header.as_ref();
        let header = header.filter(|header| !header.is(&line.text));
        Ok(header.map(|header| header.row(&line.text)))
    }
}
