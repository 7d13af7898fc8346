//! A bound on the length of lines, for readers that hold a line in memory.

use std::io::{self, Read};

/// Most bytes of a line: 64 MiB, a row of 30 million nodes.
const LINE_LIMIT: usize = 64 << 20;

/// Fails within a line that is too long, as in a file that is no text.
pub(super) struct ShortLines<R> {
    inner: R,
    /// Bytes since the last line end.
    open: usize,
}

impl<R: Read> ShortLines<R> {
    /// Watches over the lines of `inner`.
    pub fn new(inner: R) -> Self {
        ShortLines { inner, open: 0 }
    }
}

impl<R: Read> Read for ShortLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match buffer[..read].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => self.open = read - end - 1,
            None => self.open += read,
        }
        if self.open > LINE_LIMIT {
            let found = format!("a line of more than {} MiB", LINE_LIMIT >> 20);
            return Err(io::Error::other(found));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_lines_are_stopped() {
        let lines = b"abc\n".repeat(10);
        let mut out = Vec::new();
        ShortLines::new(&lines[..]).read_to_end(&mut out).unwrap();
        assert_eq!(out, lines);
        let endless = ShortLines::new(io::repeat(b'x')).read_to_end(&mut Vec::new());
        assert_eq!(
            endless.unwrap_err().to_string(),
            "a line of more than 64 MiB"
        );
    }
}
