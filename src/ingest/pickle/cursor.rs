//! A bounds-checked cursor over the pickle's bytes.

use super::error::{PickleError, Problem};

/// The unread rest of the input and the position in it.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Offset of the next unread byte.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Number of unread bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `count` bytes; `what` names them in the error.
    pub(super) fn take(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], PickleError> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() => {
                let taken = &self.bytes[self.at..self.at + count];
                self.at += count;
                Ok(taken)
            }
            _ => Err(Problem::Truncated {
                what,
                needed: count,
                left: self.left(),
            }
            .at(self.at)),
        }
    }

    /// The next `N` bytes as an array.
    pub(super) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], PickleError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N as u64, what)?);
        Ok(out)
    }

    /// The next byte.
    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, PickleError> {
        Ok(self.array::<1>(what)?[0])
    }

    /// A length of `N` little-endian bytes (at most 8), then that many bytes.
    pub(super) fn counted<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<&'a [u8], PickleError> {
        let mut count = [0; 8];
        count[..N].copy_from_slice(self.take(N as u64, what)?);
        self.take(u64::from_le_bytes(count), what)
    }

    /// The bytes up to the next line feed, which is skipped. `limit` bounds
    /// how far it is looked for.
    pub(super) fn line(
        &mut self,
        limit: usize,
        what: &'static str,
    ) -> Result<&'a [u8], PickleError> {
        let rest = &self.bytes[self.at..];
        let window = &rest[..rest.len().min(limit)];
        match window.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.at += end + 1;
                Ok(&window[..end])
            }
            None if rest.len() <= limit => Err(Problem::Truncated {
                what,
                needed: rest.len() as u64 + 1,
                left: rest.len(),
            }
            .at(self.at)),
            None => Err(Problem::Malformed("a class name is too long").at(self.at)),
        }
    }
}
