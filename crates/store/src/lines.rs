//! Reads the lines of a segment from a given position.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use gleaner_io::files::open_regular;

/// Maximum length of a record's line in bytes. Longer lines are not records.
const LONGEST: u64 = 64 << 20;

/// Calls `take` with every complete line from byte `from` onwards, including its line ending. Returns the position
/// after the last complete line. Bytes after the last line ending belong to a line that is still being written or was
/// cut off.
///
/// A missing segment counts as empty, because another process may have merged it.
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
