//! Reads the tables of a run as rows of a given type.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::files::{RunFiles, time};
use gleaner_domain::Utc;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::{Cells, Field, Record};
use gleaner_io::rows::{CellResult, Col, Header, Row};

/// Reads the rows of a table as values of type `R`. `check` is called with the previous row and the current row. If the
/// current row is wrong, `check` returns the column and the expected value.
///
/// # Errors
/// The file is missing or damaged, or cells have unexpected values. All of these cells are reported together.
pub(super) fn read_records<R: Record>(
    files: &RunFiles<'_>,
    name: &str,
    check: impl Fn(Option<&R>, &R) -> Option<(&'static str, &'static str)>,
) -> Result<Vec<R>> {
    let mut above: Option<R> = None;
    let mut rows = Vec::new();
    read_columns(files, name, R::FIELDS, |row, cols| {
        let cells = Line { row: *row, cols };
        let read = R::read(&cells)?;
        let wrong = check(above.as_ref(), &read);
        rows.extend(above.replace(read));
        match wrong {
            None => Ok(()),
            Some((column, expected)) => {
                let number = R::FIELDS.iter().position(|field| field.name == column);
                Err(cells.fault(number.unwrap_or_default(), expected.into()))
            }
        }
    })?;
    rows.extend(above);
    Ok(rows)
}

/// Reads the given columns of a table, and converts each row with `read`.
///
/// # Errors
/// Same as [`read_records`].
pub(super) fn read_columns<T>(
    files: &RunFiles<'_>,
    name: &str,
    fields: &[Field],
    mut read: impl FnMut(&Row<'_>, &[Col]) -> CellResult<T>,
) -> Result<Vec<T>> {
    let source = files.open(name)?;
    let mut header = Header::open(&source)?;
    let cols = fields.iter().map(|field| {
        let holds = format!("`{}`: {}", field.name, field.meaning.trim());
        header.require(&[field.name], &holds)
    });
    let cols = cols.collect::<Result<Vec<_>>>()?;
    let (rows, faults) = header.finish()?.gather(|row| read(row, &cols))?;
    faults.finish(rows)
}

/// A row of a table, with the requested columns.
struct Line<'r> {
    row: Row<'r>,
    cols: &'r [Col],
}

impl Cells for Line<'_> {
    type Fault = Box<Fault>;

    fn is_missing(&self, column: usize) -> bool {
        self.row.cell(self.cols[column]).is_missing()
    }

    fn time(&self, column: usize) -> CellResult<Utc> {
        time(self.row.cell(self.cols[column]))
    }

    fn number(&self, column: usize) -> CellResult<f64> {
        self.row.cell(self.cols[column]).float()
    }

    fn whole(&self, column: usize, range: RangeInclusive<i64>) -> CellResult<i64> {
        self.row.cell(self.cols[column]).integer(range)
    }

    fn text(&self, column: usize) -> CellResult<Cow<'_, str>> {
        self.row.cell(self.cols[column]).text()
    }

    fn fault(&self, column: usize, expected: String) -> Box<Fault> {
        self.row.cell(self.cols[column]).fault(expected)
    }
}
