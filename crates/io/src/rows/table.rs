//! A table whose columns have been requested. It is visited row by row.

use csv::ByteRecord;

use super::Place;
use super::cell::CellResult;
use super::header::{Col, RequestedColumn};
use super::parquet::Held;
use super::row::{Cells, Row};
use crate::Gatherer;
use crate::delimited::Records;
use crate::source::Source;
use gleaner_domain::error::Result;

/// A table whose columns have been requested.
pub struct Table<'a> {
    pub(super) source: &'a Source,
    pub(super) requested: Vec<RequestedColumn>,
    pub(super) content: Content,
}

/// The rows of a table.
pub(super) enum Content {
    /// Rows are read from the source again on every visit.
    Csv,
    Parquet(Held),
}

impl<'a> Table<'a> {
    /// The source of the table.
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// Calls `each` with every row in order. If a row has more or fewer cells than the header,
    /// `each` receives a fault instead.
    ///
    /// # Errors
    /// The file is damaged, or `each` fails.
    pub fn visit(&self, mut each: impl FnMut(CellResult<Row<'_>>) -> Result<()>) -> Result<()> {
        match &self.content {
            Content::Csv => self.visit_csv(each),
            Content::Parquet(held) => {
                let mut rows = 0..held.rows();
                rows.try_for_each(|row| each(Ok(self.row(Place::Row(row), Cells::Held(held, row)))))
            }
        }
    }

    /// Reads all rows with `read`. Returns the results, and the faults of the rows that cannot be read.
    ///
    /// # Errors
    /// The file is damaged, or has too many faults.
    pub fn gather<T>(
        &self,
        mut read: impl FnMut(&Row<'_>) -> CellResult<T>,
    ) -> Result<(Vec<T>, Gatherer)> {
        let (mut rows, mut faults) = (Vec::new(), Gatherer::default());
        self.visit(|row| match row.and_then(|row| read(&row)) {
            Ok(row) => {
                rows.push(row);
                Ok(())
            }
            Err(fault) => faults.add(*fault),
        })?;
        Ok((rows, faults))
    }

    fn visit_csv(&self, mut each: impl FnMut(CellResult<Row<'_>>) -> Result<()>) -> Result<()> {
        let mut records = open_records(self.source)?;
        let width = records.header.len();
        let mut record = ByteRecord::new();
        while let Some(line) = records.next(&mut record)? {
            let place = Place::Line(line);
            if record.len() == width {
                each(Ok(self.row(place, Cells::Record(&record))))?;
            } else {
                let found = format!("{} cells", record.len());
                let fault = self
                    .source
                    .fault(found, format!("{width}, as in the header"));
                each(Err(Box::new(fault.at(place))))?;
            }
        }
        Ok(())
    }

    /// The name of a requested column, for messages.
    pub fn label(&self, col: Col) -> &str {
        &self.requested[col.index()].label
    }

    fn row<'r>(&'r self, place: Place, cells: Cells<'r>) -> Row<'r> {
        Row {
            source: self.source,
            requested: &self.requested,
            place,
            cells,
        }
    }
}

/// Opens a CSV input, which must have a header.
pub(super) fn open_records(source: &Source) -> Result<Records<'_>> {
    let records = Records::open(source)?;
    if records.header.is_empty() {
        let expected = "a header line with the names of the columns";
        return Err(source.fault("an empty file", expected).into());
    }
    Ok(records)
}
