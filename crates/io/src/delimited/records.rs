//! Reads CSV inputs record by record.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use csv::{ByteRecord, Reader, ReaderBuilder, StringRecord};

use super::names::ColumnNames;
use crate::fault::Place;
use crate::source::Source;
use gleaner_domain::error::{Error, Result};

/// Maximum length of a record in bytes: 64 MiB, enough for a row of 30 million
/// nodes.
const RECORD_LIMIT: usize = 64 << 20;

/// A CSV input whose header has been read.
pub struct Records<'a> {
    /// The source of the content.
    pub source: &'a Source,
    /// The cells of the header; empty if the input is empty.
    pub header: ByteRecord,
    reader: Reader<Bounded<Box<dyn Read + 'a>>>,
    /// Number of bytes read since the last record.
    open: Rc<Cell<usize>>,
}

impl<'a> Records<'a> {
    /// Opens an input and reads its header. An empty input is not an error.
    pub fn open(source: &'a Source) -> Result<Self> {
        let open = Rc::new(Cell::new(0));
        let bounded = Bounded {
            inner: source.reader()?,
            open: Rc::clone(&open),
        };
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(bounded);
        let header = reader.byte_headers().map_err(|e| csv_error(source, e))?;
        let header = header.clone();
        Ok(Records {
            source,
            header,
            reader,
            open,
        })
    }

    /// The names of the columns.
    pub fn names(&self) -> ColumnNames {
        ColumnNames::of_record(&self.header)
    }

    /// Reads the next record. Returns its line number, or `None` at the end.
    pub fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        self.open.set(0);
        let read = self.reader.read_byte_record(record);
        self.line_of(read, record.position())
    }

    /// Reads the next record as text. Returns its line number, or `None` at the
    /// end.
    pub fn next_text(&mut self, record: &mut StringRecord) -> Result<Option<u64>> {
        self.open.set(0);
        let read = self.reader.read_record(record);
        self.line_of(read, record.position())
    }

    fn line_of(
        &self,
        read: csv::Result<bool>,
        position: Option<&csv::Position>,
    ) -> Result<Option<u64>> {
        match read {
            Ok(there) => Ok(there.then(|| position.map_or(0, csv::Position::line))),
            Err(error) => Err(csv_error(self.source, error)),
        }
    }
}

fn csv_error(source: &Source, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    let fault = match error.into_kind() {
        csv::ErrorKind::Io(error) => return source.read_error(error),
        csv::ErrorKind::Utf8 { .. } => source.fault("bytes that are not UTF-8", "text"),
        other => source.fault(format!("{other:?}"), "comma-separated values"),
    };
    let place = line.map_or(String::new(), |line| Place::Line(line).into());
    fault.at(place).into()
}

/// A stream that fails if a record is too long, for example because the file is
/// not text.
struct Bounded<R> {
    inner: R,
    /// Number of bytes read since the last record.
    open: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let open = self.open.get() + read;
        self.open.set(open);
        if open > RECORD_LIMIT {
            let limit = RECORD_LIMIT >> 20;
            let found = format!("a line of more than {limit} MiB, or an unclosed quote");
            return Err(io::Error::other(found));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded<R: Read>(inner: R) -> Reader<Bounded<R>> {
        let open = Rc::default();
        ReaderBuilder::new().from_reader(Bounded { inner, open })
    }

    #[test]
    fn only_endless_records_are_refused() {
        let sound = b"a,b\n".repeat(10);
        assert_eq!(bounded(&sound[..]).byte_records().count(), 9);
        let line = io::repeat(b'x');
        let blank = io::repeat(b'\n');
        // Within a quote, line breaks do not end the record.
        let quote = b"\"".chain(io::repeat(b'\n'));
        for endless in [
            Box::new(line) as Box<dyn Read>,
            Box::new(blank),
            Box::new(quote),
        ] {
            let error = bounded(endless).byte_headers().unwrap_err().to_string();
            assert!(error.starts_with("a line of more than 64 MiB"), "{error}");
        }
    }
}
