//! Stdout, or a file that is whole or not there.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use super::Whole;
use crate::error::{Error, Result};

/// Where an output goes that may also go to stdout.
#[derive(Debug)]
pub enum Output {
    /// To stdout, as it comes.
    Stdout(BufWriter<Stdout>),
    /// To a file.
    File(Whole),
}

impl Output {
    /// Begins an output; a path of `-` is stdout.
    ///
    /// # Errors
    /// As [`Whole::create`].
    pub fn create(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let stdout = BufWriter::with_capacity(1 << 16, io::stdout());
            return Ok(Output::Stdout(stdout));
        }
        Whole::create(path).map(Output::File)
    }

    /// Ends the output; a file is put in place.
    ///
    /// # Errors
    /// It cannot be written.
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
