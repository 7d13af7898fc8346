//! Output to stdout, or to a file that is written atomically.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use super::AtomicFile;
use gleaner_domain::error::{Error, Result};

/// An output: stdout or a file.
#[derive(Debug)]
pub enum Output {
    /// Written directly to stdout.
    Stdout(BufWriter<Stdout>),
    /// Written to a file, which is moved into place at the end.
    File(AtomicFile),
}

impl Output {
    /// Starts an output to the file `path`, or to stdout if the path is `-`.
    ///
    /// # Errors
    /// Same as [`AtomicFile::create`].
    pub fn create(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let stdout = BufWriter::with_capacity(1 << 16, io::stdout());
            return Ok(Output::Stdout(stdout));
        }
        AtomicFile::create(path).map(Output::File)
    }

    /// Ends the output and, if it is a file, moves the file into place.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush().map_err(|e| Error::io("write to", "stdout", e)),
            Output::File(file) => file.finish(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::File(file) => file.flush(),
        }
    }
}
