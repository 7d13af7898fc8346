//! A table in a log, read line by line.

use super::header::{Header, Row};
use super::names::Names;
use crate::error::Result;
use crate::ingest::input::Line;

/// What a table has to hold.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct Layout {
    /// The columns asked for.
    pub columns: &'static [Names],
    /// How many of them, from the first on, have to be there.
    pub required: usize,
    /// Whether it is comma-separated values, where a cell may be quoted. Else its cells are
    /// separated as Slurm's commands do it: by the delimiter that is given, or the header's own.
    pub quoted: bool,
    /// What the user is to do about a missing column.
    pub remedy: fn() -> String,
}

/// A table whose first line is its header.
#[derive(Debug)]
pub(in crate::ingest) struct LogTable {
    layout: Layout,
    delimiter: Option<String>,
    header: Option<Header>,
}

impl LogTable {
    /// A table of this layout, with the delimiter that the user gives.
    pub fn new(layout: Layout, delimiter: Option<String>) -> Self {
        LogTable {
            layout,
            delimiter,
            header: None,
        }
    }

    /// Another file begins, with a header of its own.
    pub fn begin(&mut self) {
        self.header = None;
    }

    /// Whether the table has a column asked for. False before its header was read.
    pub fn has(&self, wanted: usize) -> bool {
        self.header
            .as_ref()
            .is_some_and(|header| header.has(wanted))
    }

    /// Reads the header from a text that is not in the file.
    ///
    /// # Errors
    /// Columns that are missing in it.
    pub fn take_header(&mut self, text: &str, line: &Line<'_>) -> Result<()> {
        let delimiter = self.delimiter.as_deref();
        self.header = Some(Header::find(text, line.place, delimiter, &self.layout)?);
        Ok(())
    }

    /// The row of a line; the message says what is wrong with it. `None` where the line is the
    /// header, also where it is there again, as where files were put together.
    ///
    /// # Errors
    /// Columns that the header lacks.
    pub fn row<'l>(&mut self, line: &'l Line<'_>) -> Result<Option<Result<Row<'_, 'l>, String>>> {
        if self.header.is_none() {
            self.take_header(&line.text, line)?;
        }
        let header = self.header.as_ref();
        let header = header.filter(|header| !header.is(&line.text));
        Ok(header.map(|header| header.row(&line.text)))
    }
}
