//! The lines of a segment, from a place on.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use gleaner_io::files::open_regular;

/// Longest line in bytes. A longer line is not a record.
const LONGEST: u64 = 64 << 20;

/// Calls `take` with every whole line after the byte `from`, its end included, and returns the byte
/// after the last one. What follows the last end of a line is being written, or was cut off.
///
/// A segment that is gone was merged by another process; it has no lines.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read(path: &Path, from: u64, mut take: impl FnMut(&[u8])) -> io::Result<u64> {
    let mut file = match open_regular(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(from),
        Err(error) => return Err(error),
    };
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        reader.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") && (line.len() as u64) < LONGEST {
            return Ok(at);
        }
        at += line.len() as u64;
        take(&line);
    }
}
