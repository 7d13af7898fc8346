//! The rows of a table, in delimited text or in Parquet.

use std::borrow::Cow;

use super::super::collector::{At, Collector, Log};
use super::super::counts::Reason;
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::delimited::{Cells, ColumnNames, Dialect, Quote};
use gleaner_io::input::{Input, Place, Unit};
use gleaner_io::parquet::{RowFile, Rows, Value, is_parquet};

/// Maximum size in bytes of a text row whose quoted cells span several lines.
const MAX_SPAN: usize = 1 << 20;

/// Receives the rows of a table.
pub(in super::super) trait TakeRows {
    /// Chooses the columns to read: for each role, the index of its column among the names, or `None` if the table
    /// lacks it. [`Row`] provides the cells of these columns by role.
    ///
    /// # Errors
    /// A required column is missing.
    fn columns(&mut self, header: &Header<'_>, log: &mut Log) -> Result<Vec<Option<usize>>>;

    /// The role of the only cell that may lack its closing quote. The text of such a cell begins with a quote. A row in
    /// which another cell lacks its closing quote is a fault.
    fn may_be_damaged(&self) -> Option<usize> {
        None
    }

    /// Receives a row.
    ///
    /// # Errors
    /// There is a fault and the reader is strict, or a temporary file cannot be written.
    fn row(&mut self, row: &Row<'_>, at: At, collector: &mut Collector<'_>) -> Result<()>;
}

/// The names of the columns of a table.
pub(in super::super) struct Header<'h> {
    pub names: &'h ColumnNames,
    /// The time zone that the file records for each column; empty for text.
    pub zones: &'h [Option<String>],
    /// Whether each column contains instants rather than local times; empty for text.
    pub utc: &'h [bool],
    pub place: Place<'h>,
}

/// A row of a table. Its cells are found by role.
pub(in super::super) enum Row<'r> {
    /// Cells of a text row, and the index of the cell for each role.
    Text(&'r Cells<'r>, &'r [Option<usize>]),
    /// Cells of a Parquet row, and the column for each role.
    Stored(&'r Rows<'r>, &'r [Option<Stored>]),
}

/// A Parquet column to be read.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Stored {
    /// Index among the columns to be read.
    chosen: usize,
    utc: bool,
    list: bool,
}

impl<'r> Row<'r> {
    /// The cell of a role, trimmed; [`Value::Null`] if the cell is empty or the table has no such
    /// column.
    pub fn value(&self, role: usize) -> Value<'r> {
        let value = match *self {
            Row::Text(cells, at) => {
                let cell = at.get(role).copied().flatten().and_then(|at| cells.get(at));
                cell.map_or(Value::Null, |cell| Value::Text(cell.as_bytes()))
            }
            Row::Stored(rows, at) => match at.get(role).copied().flatten() {
                Some(column) => rows.value(column.chosen),
                None => Value::Null,
            },
        };
        match value {
            Value::Text(text) => match text.trim_ascii() {
                [] => Value::Null,
                text => Value::Text(text),
            },
            value => value,
        }
    }

    /// The cell of a role as text; empty if there is none.
    pub fn text(&self, role: usize) -> Cow<'r, str> {
        text(self.value(role))
    }

    /// Whether timestamps in the column of a role are instants. Otherwise they are local times.
    pub fn is_utc(&self, role: usize) -> bool {
        self.stored(role).is_some_and(|column| column.utc)
    }

    /// Calls `each` with the strings of a cell that is stored as a list. Returns false if the cell is not stored as
    /// a list.
    pub fn list(&self, role: usize, mut each: impl FnMut(Cow<'r, str>)) -> bool {
        let (Row::Stored(rows, _), Some(column)) = (self, self.stored(role)) else {
            return false;
        };
        if !column.list {
            return false;
        }
        rows.elements(column.chosen, &mut |value| {
            let text = text(value);
            if !text.trim().is_empty() {
                each(text);
            }
        });
        true
    }

    fn stored(&self, role: usize) -> Option<Stored> {
        match self {
            Row::Text(..) => None,
            Row::Stored(_, at) => at.get(role).copied().flatten(),
        }
    }
}

/// A value as text; empty if it is missing.
fn text(value: Value<'_>) -> Cow<'_, str> {
    match value {
        Value::Null | Value::Empty => Cow::Borrowed(""),
        Value::Text(text) => String::from_utf8_lossy(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Passes the rows of a table to `taker`. `delimiter` separates the cells of text. If it is `None`, the delimiter is
/// inferred from the header.
///
/// # Errors
/// The file cannot be read or is damaged, or `taker` fails.
pub(in super::super) fn read(
    input: &mut Input<'_>,
    delimiter: Option<&str>,
    taker: &mut dyn TakeRows,
    collector: &mut Collector<'_>,
) -> Result<()> {
    if is_parquet(input.head()?) {
        read_parquet(input, taker, collector)
    } else {
        read_text(input, delimiter, taker, collector)
    }
}

/// Reads the rows of a Parquet file. Only the pages around the current row are in memory.
fn read_parquet(
    input: &mut Input<'_>,
    taker: &mut dyn TakeRows,
    collector: &mut Collector<'_>,
) -> Result<()> {
    /// Number of rows between two progress reports.
    const STEP: u64 = 1 << 14;
    let file = input.to_file()?;
    let file = RowFile::open(input.path(), file)?;
    let columns = file.columns();
    let names = ColumnNames::new(columns.iter().map(|column| column.name.as_str()));
    let utc: Vec<bool> = columns.iter().map(|column| column.utc).collect();
    let place = |row| Place {
        file: input.path(),
        unit: Unit::Row,
        line: row,
    };
    let header = Header {
        names: &names,
        zones: file.zones(),
        utc: &utc,
        place: place(0),
    };
    let at = taker.columns(&header, &mut collector.log)?;
    let chosen: Vec<usize> = at.iter().copied().flatten().collect();
    let mut places = 0..chosen.len();
    let stored = |index: usize| {
        let chosen = places.next()?;
        let (utc, list) = (columns[index].utc, columns[index].is_list());
        Some(Stored { chosen, utc, list })
    };
    let mut stored = stored;
    let at: Vec<_> = at.iter().map(|index| index.and_then(&mut stored)).collect();
    let mut rows = file.read(&chosen)?;
    collector.log.counts.unit = Unit::Row;
    let mut number = 0;
    while rows.next_row()? {
        number += 1;
        collector.log.counts.lines += 1;
        if number % STEP == 0 {
            input.report(number as usize, file.rows())?;
        }
        let place = collector.log.at(place(number));
        taker.row(&Row::Stored(&rows, &at), place, collector)?;
    }
    Ok(())
}

/// Reads the rows of a delimited text file.
fn read_text(
    input: &mut Input<'_>,
    delimiter: Option<&str>,
    taker: &mut dyn TakeRows,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let mut table: Option<TextTable> = None;
    while let Some(line) = input.next_line()? {
        if !collector.log.counts.take(&line)? {
            continue;
        }
        match &mut table {
            None => {
                let (dialect, names) = header(&line.text, delimiter);
                let header = Header {
                    names: &names,
                    zones: &[],
                    utc: &[],
                    place: line.place,
                };
                table = Some(TextTable {
                    text: line.text.to_string(),
                    dialect,
                    width: names.all().len(),
                    at: taker.columns(&header, &mut collector.log)?,
                    open: None,
                });
            }
            // A file that was concatenated from several files repeats the header.
            Some(table) if table.text == line.text => {}
            Some(table) => {
                let at = collector.log.at(line.place);
                table.line(&line.text, at, taker, collector)?;
            }
        }
    }
    match &mut table {
        Some(table) => table.finish(taker, collector),
        None => Ok(()),
    }
}

/// The dialect of a table with this header line, and the names of its columns.
fn header(line: &str, delimiter: Option<&str>) -> (Dialect, ColumnNames) {
    let dialect = Dialect::of_header(line, delimiter);
    let cells = dialect.split_quoted(line);
    let cells = cells.unwrap_or_else(|| dialect.split(line));
    let names = ColumnNames::new(cells.iter());
    (dialect, names)
}

/// A delimited text file whose header has been read.
struct TextTable {
    /// The header line.
    text: String,
    dialect: Dialect,
    /// Number of columns.
    width: usize,
    /// For each role, the index of its column.
    at: Vec<Option<usize>>,
    /// The previous row, if its last quote is still open.
    open: Option<OpenRow>,
}

/// A row whose last quote is open at the end of its line. It may continue on the next line.
struct OpenRow {
    text: String,
    at: At,
    /// Length of the first line in bytes.
    first: usize,
}

impl TextTable {
    /// Processes the next line, which is a row or part of a row.
    ///
    /// A quote that is never closed must not turn the rest of the file into one cell. Therefore, a line that is a row
    /// by itself ends an open row.
    fn line(
        &mut self,
        line: &str,
        at: At,
        taker: &mut dyn TakeRows,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let is_open = self.dialect.is_open(line);
        let is_row = !is_open && self.dialect.split_exactly(line, self.width).is_ok();
        if let Some(mut open) = self.open.take() {
            if !is_row {
                open.text.push('\n');
                open.text.push_str(line);
                let cells = self.dialect.split_quoted(&open.text);
                if cells.is_some_and(|cells| cells.count() == self.width) {
                    return self.row(&open.text, open.at, taker, collector);
                }
                if self.dialect.is_open(&open.text) && open.text.len() <= MAX_SPAN {
                    self.open = Some(open);
                    return Ok(());
                }
            }
            self.row(open.first_line(), open.at, taker, collector)?;
        }
        if is_open {
            self.open = Some(OpenRow {
                text: line.to_owned(),
                at,
                first: line.len(),
            });
            return Ok(());
        }
        self.row(line, at, taker, collector)
    }

    /// Processes the first line of a row that is still open at the end of the file.
    fn finish(&mut self, taker: &mut dyn TakeRows, collector: &mut Collector<'_>) -> Result<()> {
        match self.open.take() {
            Some(open) => self.row(open.first_line(), open.at, taker, collector),
            None => Ok(()),
        }
    }

    /// Processes a row. Unmatched quotes count as ordinary characters if the row then has as many cells as the header.
    fn row(
        &self,
        text: &str,
        at: At,
        taker: &mut dyn TakeRows,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let damaged = taker.may_be_damaged();
        let damaged = damaged.and_then(|role| self.at.get(role).copied().flatten());
        let (count, quote) = match self.dialect.split_exactly(text, self.width) {
            Ok(cells) if self.has_stray_quote(&cells, damaged) => {
                let found = "a quote that is not closed before a delimiter";
                return collector.log.fault(Reason::Unreadable, at, found);
            }
            Ok(cells) => return taker.row(&Row::Text(&cells, &self.at), at, collector),
            Err(wrong) => {
                let is_open = wrong.1 == Some(Quote::Open);
                let closed = damaged.filter(|_| is_open);
                let closed = closed.and_then(|damaged| self.close(text, damaged));
                if let Some(closed) = &closed
                    && let Some(cells) = self.dialect.split_quoted(closed)
                {
                    return taker.row(&Row::Text(&cells, &self.at), at, collector);
                }
                wrong
            }
        };
        let quote = match quote {
            None => "",
            Some(Quote::Open) => ", and a quote that is not closed",
            Some(Quote::Stray) => ", and a quote that is not followed by a delimiter",
        };
        let (count, width) = (counted(count, "cell"), self.width);
        let found = format_args!("{count}, not {width} as in the header{quote}");
        collector.log.fault(Reason::Unreadable, at, found)
    }
}

impl TextTable {
    /// Whether any cell that is read, other than the cell with index `damaged`, begins with a quote. No valid value
    /// begins with a quote, so the quotes of such a row do not match.
    fn has_stray_quote(&self, cells: &Cells<'_>, damaged: Option<usize>) -> bool {
        let read = self.at.iter().copied().flatten();
        let mut read = read.filter(|at| Some(*at) != damaged);
        read.any(|at| cells.get(at).is_some_and(|cell| cell.starts_with('"')))
    }

    /// Closes the quoted cell at the end of a row, and makes the opening quote part of the cell's text. For example,
    /// `7,"n1,n` becomes `7,"""n1,n"`. Returns `None` if the index of the cell is not `last`, or if a later column is
    /// read.
    fn close(&self, text: &str, last: usize) -> Option<String> {
        let closed = format!("{text}\"");
        let cells = self.dialect.split_quoted(&closed)?;
        let is_last = cells.count() == last + 1 && self.at.iter().flatten().all(|at| *at <= last);
        let cell = cells.get(last).filter(|_| is_last)?;
        let before = text.trim_end().strip_suffix(cell)?;
        Some(format!("{before}\"\"{cell}\""))
    }
}

impl OpenRow {
    fn first_line(&self) -> &str {
        &self.text[..self.first]
    }
}
