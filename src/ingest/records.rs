//! CSV inputs, record by record.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::error::{Error, Result};
use crate::ingest::lines::ShortLines;
use crate::ingest::source::Source;

/// A CSV input past its header.
pub(super) struct Lines<'a> {
    /// The input.
    pub source: &'a Source,
    /// The header; empty where the input is.
    pub header: ByteRecord,
    reader: Reader<ShortLines<Box<dyn Read + 'a>>>,
}

impl<'a> Lines<'a> {
    /// Opens an input and reads its header, be it empty.
    pub fn open(source: &'a Source) -> Result<Self> {
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(ShortLines::new(source.reader()?));
        let header = reader.byte_headers().map_err(|e| csv_error(source, e))?;
        let header = header.clone();
        Ok(Lines {
            source,
            header,
            reader,
        })
    }

    /// Reads the next record; its line, or `None` at the end.
    pub fn next(&mut self, record: &mut ByteRecord) -> Result<Option<u64>> {
        match self.reader.read_byte_record(record) {
            Ok(true) => Ok(Some(record.position().map_or(0, csv::Position::line))),
            Ok(false) => Ok(None),
            Err(error) => Err(csv_error(self.source, error)),
        }
    }
}

fn csv_error(source: &Source, error: csv::Error) -> Error {
    let line = error.position().map(csv::Position::line);
    match error.into_kind() {
        csv::ErrorKind::Io(error) => source.read_error(error),
        other => {
            let fault = source.fault(format!("{other:?}"), "comma-separated values");
            let place = line.map_or(String::new(), |line| format!("line {line}"));
            fault.at(place).into()
        }
    }
}
