//! Reads the output of a program line by line.

use std::io::{BufRead, BufReader, Read};

/// Maximum number of bytes of a line.
pub const LONGEST_LINE: u64 = 1 << 20;

/// An item read from the output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line with its line ending. The last line can lack the line ending.
    Text(Vec<u8>),
    /// A line that does not end within [`LONGEST_LINE`] bytes, and is therefore dropped.
    Long,
    /// The output is closed: the program has ended or will end soon.
    Closed,
}

/// Reads lines until the output is closed or `take` returns false. The last call of `take` receives [`Line::Closed`],
/// unless `take` has returned false, or the output is closed within a line that is too long.
pub fn read_lines(output: impl Read, mut take: impl FnMut(Line) -> bool) {
    let mut output = BufReader::new(output);
    loop {
        let mut text = Vec::new();
        let read = output
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut text);
        let line = match read {
            Ok(0) | Err(_) => Line::Closed,
            Ok(_) if text.ends_with(b"\n") => Line::Text(text),
            Ok(count) if count as u64 == LONGEST_LINE => Line::Long,
            Ok(_) => Line::Text(text),
        };
        let (is_long, is_closed) = (line == Line::Long, line == Line::Closed);
        if !take(line) || is_closed || (is_long && !skip_line(&mut output)) {
            return;
        }
    }
}

/// Drops the rest of a line. Returns false at the end of the output.
fn skip_line(output: &mut impl BufRead) -> bool {
    loop {
        let Ok(buffer) = output.fill_buf() else {
            return false;
        };
        if buffer.is_empty() {
            return false;
        }
        let newline = buffer.iter().position(|&byte| byte == b'\n');
        let used = newline.map_or(buffer.len(), |at| at + 1);
        output.consume(used);
        if newline.is_some() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        read_lines(bytes, |line| {
            lines.push(line);
            true
        });
        lines
    }

    #[test]
    fn the_last_line_may_lack_its_end() {
        let text = |text: &[u8]| Line::Text(text.to_vec());
        assert_eq!(lines(b"a\nb"), [text(b"a\n"), text(b"b"), Line::Closed]);
        assert_eq!(lines(b""), [Line::Closed]);
    }

    #[test]
    fn what_follows_a_long_line_is_read() {
        let mut bytes = vec![b'x'; LONGEST_LINE as usize + 10];
        bytes.extend(b"\nnext\n");
        let expected = [Line::Long, Line::Text(b"next\n".to_vec()), Line::Closed];
        assert_eq!(lines(&bytes), expected);
    }
}
