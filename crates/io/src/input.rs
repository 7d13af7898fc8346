//! Reads a log line by line from a file or stdin. The log can be plain text, or compressed with gzip or Zstandard.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use crate::fault;
use crate::source::{Compression, STDIN, is_tar};
use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Result, check_stop};

/// Maximum length of a line: 16 MiB. This is enough for a job that lists several hundred thousand nodes by name.
const LINE_LIMIT: usize = 16 << 20;

/// Size of the read buffer in bytes.
const BUFFER: usize = 1 << 18;

/// A log that is read line by line. Only the current line is in memory, so a log of any length can
/// be read, compressed or not.
pub struct Input<'a> {
    path: PathBuf,
    reader: Box<dyn BufRead + 'a>,
    compressed: bool,
    line: u64,
    buffer: Vec<u8>,
    /// The regular file from which the stream reads; `None` if the input is compressed or is not a regular file.
    disk: Option<File>,
    observer: Option<&'a dyn Observer>,
}

/// A line of a log, without its line break.
pub struct Line<'l> {
    /// The text. Bytes that are not UTF-8 become replacement characters.
    pub text: Cow<'l, str>,
    /// The file and line number, for messages.
    pub place: Place<'l>,
    /// Whether the line is longer than 16 MiB. If so, `text` is only the start of the line.
    pub cut: bool,
    /// Whether a line break follows; also true if `cut` is true. If false, the line is the last line of the file and
    /// may be incomplete.
    pub ended: bool,
}

/// The unit in which a message states a position in a file, such as `line` in `line 3`. Units are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// A line of a text file.
    #[default]
    Line,
    /// A job in a JSON document.
    Job,
    /// A profile in a JSON document.
    Profile,
    /// A row of a table that is not a text file, such as a Parquet file.
    Row,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Line => "line",
            Unit::Job => "job",
            Unit::Profile => "profile",
            Unit::Row => "row",
        })
    }
}

/// A part of a file, such as a line, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file being read.
    pub file: &'a Path,
    /// The kind of part.
    pub unit: Unit,
    /// The number of the part, from 1.
    pub line: u64,
}

impl<'a> Place<'a> {
    /// The position of a line.
    pub fn line(file: &'a Path, line: u64) -> Self {
        let unit = Unit::Line;
        Place { file, unit, line }
    }

    /// The position within the file, such as `line 3`.
    pub fn within(&self) -> fault::Place {
        fault::Place::Part(self.unit, self.line)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file.display(), self.within())
    }
}

impl<'a> Input<'a> {
    /// Opens a file, or stdin if `path` is `-`.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn open(path: &Path) -> Result<Input<'static>> {
        if path == Path::new(STDIN) {
            return Input::new(path, io::stdin().lock());
        }
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        let disk = regular(&file);
        Ok(Input::new(path, file)?.on(disk))
    }

    /// Like [`Input::open`], but reports the progress to the observer, in MiB of the file. If the observer requests a
    /// stop, reading fails with [`Error::Stopped`].
    ///
    /// # Errors
    /// The file cannot be opened or read, or the observer requests a stop.
    pub fn open_observed(path: &Path, observer: &'a dyn Observer) -> Result<Input<'a>> {
        let (stream, bytes, disk): (Box<dyn Read>, _, _) = if path == Path::new(STDIN) {
            (Box::new(io::stdin().lock()), None, None)
        } else {
            let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
            let bytes = file.metadata().ok().map(|metadata| metadata.len());
            let disk = regular(&file);
            (Box::new(file), bytes, disk)
        };
        let observed = Observed {
            stream,
            observer,
            read: 0,
            bytes,
        };
        let input = Input::new(path, observed)?.on(disk);
        Ok(Input {
            observer: Some(observer),
            ..input
        })
    }

    /// Records the file from which the stream reads, unless the input is compressed.
    fn on(self, disk: Option<File>) -> Self {
        let disk = disk.filter(|_| !self.compressed);
        Input { disk, ..self }
    }

    /// Reads a log from any stream. `path` is used only in messages.
    ///
    /// # Errors
    /// The first bytes of the stream cannot be read, or the stream is a tar or zip archive.
    pub fn new(path: &Path, stream: impl Read + 'a) -> Result<Input<'a>> {
        let mut raw = BufReader::with_capacity(BUFFER, stream);
        let io_error = |e| stop_of(&e).unwrap_or_else(|| Error::io("read", path, e));
        let head = raw.fill_buf().map_err(io_error)?;
        let compression = Compression::of(head);
        let reader: Box<dyn BufRead + 'a> = match compression {
            None => Box::new(raw),
            Some(compression) => {
                let inflated = compression.decode(raw).map_err(io_error)?;
                Box::new(BufReader::with_capacity(BUFFER, inflated))
            }
        };
        let mut input = Input {
            path: path.to_owned(),
            reader,
            compressed: compression.is_some(),
            line: 0,
            buffer: Vec::new(),
            disk: None,
            observer: None,
        };
        input.refuse_archive()?;
        Ok(input)
    }

    /// Fails if the content is a tar or zip archive.
    fn refuse_archive(&mut self) -> Result<()> {
        let head = self.head()?;
        let (found, remedy) = if is_tar(head) {
            ("a tar archive", "unpack it with tar -xf")
        } else if head.starts_with(b"PK\x03\x04") {
            ("a zip archive", "unpack it with unzip")
        } else {
            return Ok(());
        };
        let fault = Fault::of(&self.path, found, "one of the files in it");
        Err(fault.remedy(remedy).into())
    }

    /// Returns the next unread bytes without consuming them. At the start of the input, these are at least 4 bytes,
    /// unless the input is shorter.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn head(&mut self) -> Result<&[u8]> {
        // The borrow checker does not accept a match on the result here.
        if let Err(error) = self.reader.fill_buf() {
            return Err(self.read_error(error));
        }
        Ok(self.reader.fill_buf().unwrap_or_default())
    }

    /// Returns the whole input as a file that can be read at any offset: the file itself, or else a temporary copy.
    /// Must be called before anything else is read from the input.
    ///
    /// # Errors
    /// The input is compressed, it cannot be read, or the temporary file cannot be written.
    pub fn to_file(&mut self) -> Result<File> {
        if self.compressed {
            let fault = Fault::of(
                &self.path,
                "a compressed Parquet file",
                "uncompressed Parquet",
            );
            return Err(fault.remedy("decompress it first").into());
        }
        if let Some(disk) = self.disk.take() {
            return Ok(disk);
        }
        let temporary = |error| Error::io("write a temporary file in", std::env::temp_dir(), error);
        let mut file = tempfile::tempfile().map_err(temporary)?;
        loop {
            let bytes = match self.reader.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) => return Err(self.read_error(error)),
            };
            if bytes.is_empty() {
                return Ok(file);
            }
            file.write_all(bytes).map_err(temporary)?;
            let length = bytes.len();
            self.reader.consume(length);
        }
    }

    /// Reports to the observer that `done` of `total` rows have been read. Readers that use [`Input::to_file`] call
    /// this method, because the observer does not see how they read the file.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the observer requests a stop.
    pub fn report(&self, done: usize, total: usize) -> Result<()> {
        let Some(observer) = self.observer else {
            return Ok(());
        };
        observer.progress(done, total);
        check_stop(observer)
    }

    /// The user-specified path; `-` means stdin.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next line that is not blank, or `None` at the end. Whitespace at the end of the line is removed, except
    /// tabs.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let read = read_line(&mut *self.reader, &mut self.buffer);
            let Some(cut) = read.map_err(|e| self.read_error(e))? else {
                return Ok(None);
            };
            if self.buffer.trim_ascii_end().is_empty() {
                continue;
            }
            let ended = cut || self.buffer.ends_with(b"\n");
            // A tab at the end means that the last cell is empty.
            let is_blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\t';
            while self.buffer.last().is_some_and(is_blank) {
                self.buffer.pop();
            }
            return Ok(Some(self.line(cut, ended)));
        }
    }

    fn line(&self, cut: bool, ended: bool) -> Line<'_> {
        let bytes = match self.line {
            1 => self.buffer.strip_prefix(b"\xef\xbb\xbf"),
            _ => None,
        };
        Line {
            text: lossy(bytes.unwrap_or(&self.buffer)),
            place: Place::line(&self.path, self.line),
            cut,
            ended,
        }
    }

    /// A stream of the unread bytes, for documents that are not read line by line.
    pub fn stream(&mut self) -> &mut dyn BufRead {
        &mut *self.reader
    }

    /// The error for a failed read: [`Error::Stopped`], an I/O error, or a fault that reports a damaged compressed
    /// file.
    pub fn read_error(&self, error: io::Error) -> Error {
        if let Some(stopped) = stop_of(&error) {
            return stopped;
        }
        if error.raw_os_error().is_some() || !self.compressed {
            return Error::io("read", &self.path, error);
        }
        let fault = Fault::of(&self.path, error.to_string(), "a complete compressed file");
        fault
            .at(format!(
                "after {}",
                fault::Place::Line(self.line.saturating_sub(1))
            ))
            .remedy("copy it again, or decompress the intact part")
            .into()
    }
}

/// A second handle to a file, for reads at any offset; `None` if the file is not a regular file.
fn regular(file: &File) -> Option<File> {
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    file.try_clone().ok().filter(|_| is_file)
}

/// A stream that reports its progress and can be stopped.
struct Observed<'o, R> {
    stream: R,
    observer: &'o dyn Observer,
    /// Number of bytes read so far.
    read: u64,
    /// Length of the stream in bytes, if known.
    bytes: Option<u64>,
}

impl<R: Read> Read for Observed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.observer.is_stopped() {
            return Err(io::Error::other(Stopped));
        }
        let read = self.stream.read(buffer)?;
        self.read += read as u64;
        if let Some(bytes) = self.bytes {
            let [read, bytes] = [self.read, bytes].map(|bytes| bytes.div_ceil(1 << 20) as usize);
            self.observer.progress(read, bytes);
        }
        Ok(read)
    }
}

/// The error returned by a stream that was stopped.
#[derive(Debug, thiserror::Error)]
#[error("stopped")]
struct Stopped;

/// Returns [`Error::Stopped`] if this error was caused by a stop request.
fn stop_of(error: &io::Error) -> Option<Error> {
    let is_stop = error.get_ref().is_some_and(|error| error.is::<Stopped>());
    is_stop.then_some(Error::Stopped)
}

/// Reads a line. Returns whether the line was truncated because it was too long, or `None` at the end of the file.
fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    let mut limited = Read::take(&mut *reader, LINE_LIMIT as u64);
    if limited.read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    let cut = line.len() == LINE_LIMIT && !line.ends_with(b"\n");
    if cut {
        reader.skip_until(b'\n')?;
        // Keep only a short prefix: a truncated list of nodes must not be parsed, because a truncated name can be the
        // name of another node.
        line.truncate(64);
    }
    Ok(Some(cut))
}

/// Converts a line to text. Most lines are valid UTF-8, and checking that first is faster than `from_utf8_lossy`.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Result<Vec<(u64, String, bool)>> {
        let mut input = Input::new(Path::new("log"), bytes)?;
        let mut lines = Vec::new();
        while let Some(line) = input.next_line()? {
            lines.push((line.place.line, line.text.into_owned(), line.cut));
        }
        Ok(lines)
    }

    const TEXT: &[u8] = b"\xef\xbb\xbfa|b\r\n\n  c\xff \nd\t\r\n\t\n";

    fn expected() -> Vec<(u64, String, bool)> {
        let line = |at, text: &str| (at, text.to_owned(), false);
        vec![line(1, "a|b"), line(3, "  c\u{fffd}"), line(4, "d\t")]
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn compressed_logs_read_as_plain_ones() {
        assert_eq!(lines(TEXT).unwrap(), expected());
        assert_eq!(lines(&gzipped(TEXT)).unwrap(), expected());
        let zstandard = zstd::encode_all(TEXT, 1).unwrap();
        assert_eq!(lines(&zstandard).unwrap(), expected());
        assert_eq!(lines(b"").unwrap(), []);
    }

    #[test]
    fn a_cut_file_is_reported() {
        let bytes = gzipped(TEXT);
        let message = lines(&bytes[..bytes.len() - 9]).unwrap_err().to_string();
        assert!(message.starts_with("log, after line "), "{message}");
        let bytes = zstd::encode_all(TEXT, 1).unwrap();
        let message = lines(&bytes[..bytes.len() - 3]).unwrap_err().to_string();
        assert!(message.contains("a complete compressed file"), "{message}");
    }

    #[test]
    fn an_overlong_line_is_cut() {
        let mut bytes = vec![b'x'; LINE_LIMIT + 5];
        bytes.extend(b"\nnext\n");
        let lines = lines(&bytes).unwrap();
        assert!(lines[0].2 && lines[0].1.len() == 64);
        assert_eq!(lines[1], (2, "next".to_owned(), false));
    }
}
