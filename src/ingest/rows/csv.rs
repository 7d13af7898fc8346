//! The lines of a CSV table.

use std::io::Read;

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::error::{Error, Result};
use crate::ingest::lines::ShortLines;
use crate::ingest::source::Source;

/// A CSV input past its header.
pub(super) struct Lines<'a> {
    source: &'a Source,
    header: ByteRecord,
    reader: Reader<ShortLines<Box<dyn Read + 'a>>>,
}

impl<'a> Lines<'a> {
    /// Opens an input and reads its header.
    pub fn open(source: &'a Source) -> Result<Self> {
        let mut reader = ReaderBuilder::new()
            .flexible(true)
            .buffer_capacity(1 << 16)
            .from_reader(ShortLines::new(source.reader()?));
        let header = reader.byte_headers().map_err(|e| csv_error(source, e))?;
        let header = header.clone();
        if header.is_empty() {
            let expected = "a header line with the names of the columns";
            return Err(source.fault("an empty file", expected).into());
        }
        Ok(Lines {
            source,
            header,
            reader,
        })
    }

    /// The names of the columns; bytes that are no text become replacement characters.
    pub fn names(&self) -> Vec<String> {
        let names = self.header.iter().map(<[u8]>::trim_ascii);
        names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect()
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.header.len()
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
