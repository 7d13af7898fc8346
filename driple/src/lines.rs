//! Where in a file a row of a table stands.

/// The line, from 1, of the row read from `position`, which the CSV reader gives from before the
/// empty lines that it skips.
pub(crate) fn line(bytes: &[u8], position: &csv::Position) -> u64 {
    let from = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let rest = bytes.get(from..).unwrap_or_default().iter();
    let skipped = rest.take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + skipped.filter(|&&byte| byte == b'\n').count() as u64
}
