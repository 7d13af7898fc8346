//! A Parquet file on disk. Only the requested bytes are read.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

use super::guard;
use super::thrift::Thrift;

/// Maximum length of a footer: 64 MiB. The footer of a file with 1,000 row groups of 100 columns takes about 10 MiB.
const MAX_FOOTER: usize = 64 << 20;

/// Numbers of bytes to read for a page header, tried in this order. Headers take about 100 bytes, and more if they
/// hold the minimum and maximum of the page.
const HEADERS: [u64; 3] = [1 << 10, 1 << 16, 1 << 24];

/// A file that can be read at any offset. Clones share the open file.
#[derive(Clone)]
pub(super) struct Disk {
    file: Arc<File>,
    length: u64,
}

impl Disk {
    /// Wraps an open file.
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let file = Arc::new(file);
        Ok(Disk { file, length })
    }

    /// Length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Checks the start, the end and the schema of the file. The inner error describes the fault.
    pub fn check(&self) -> io::Result<Result<(), &'static str>> {
        let Some(end) = self.length.checked_sub(guard::TAIL as u64) else {
            return Ok(Err("a truncated file: no PAR1 signature at its end"));
        };
        let (mut head, mut tail) = ([0; guard::MAGIC.len()], [0; guard::TAIL]);
        self.file.read_exact_at(&mut head, 0)?;
        self.file.read_exact_at(&mut tail, end)?;
        let length = match guard::footer_length(self.length, tail) {
            Ok(length) if length <= MAX_FOOTER => length,
            Ok(_) => return Ok(Err("a footer of more than 64 MiB")),
            Err(found) => return Ok(Err(found)),
        };
        let footer = self.bytes(end - length as u64, length)?;
        Ok(guard::check_footer(&head, &footer))
    }

    /// The page header that begins at offset `start`, and its length. `None` if the header is malformed or extends
    /// beyond offset `end`.
    pub fn header(&self, start: u64, end: u64) -> Option<(Thrift, usize)> {
        let room = end.checked_sub(start)?;
        for size in HEADERS {
            let bytes = self.bytes(start, size.min(room) as usize).ok()?;
            if let Some(header) = Thrift::read_struct(&bytes) {
                return Some(header);
            }
            if size >= room {
                break;
            }
        }
        None
    }

    /// Reads `length` bytes from offset `start`. Fails if the file is too short.
    fn bytes(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }
}

impl Length for Disk {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Disk {
    type T = BufReader<Section>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let file = Arc::clone(&self.file);
        // Most of these readers read only a page header, for which a small buffer is enough.
        Ok(BufReader::with_capacity(
            1 << 10,
            Section { file, at: start },
        ))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.bytes(start, length);
        Ok(bytes.map_err(ParquetError::from)?.into())
    }
}

/// A stream of a file's bytes, starting at a given offset.
pub(super) struct Section {
    file: Arc<File>,
    at: u64,
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
