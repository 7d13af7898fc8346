//! Line numbers of rows in CSV files.

/// The line number, from 1, of the next row after `position`, the current position of a CSV reader.
/// The position does not account for empty lines before that row, so this function adds them.
pub(crate) fn line(bytes: &[u8], position: &csv::Position) -> u64 {
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = bytes.get(from..).unwrap_or_default().iter();
    let skipped = rest.take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + skipped.filter(|&&byte| byte == b'\n').count() as u64
}
