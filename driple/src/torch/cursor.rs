//! A bounds-checked cursor over the bytes of a pickle.

use super::Problem;

/// The unread rest of the bytes and the position in them.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    /// The position of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.at..];
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| rest.get(..count));
        let taken = taken.ok_or(Problem::Truncated {
            needed: count,
            left: rest.len(),
        })?;
        self.at += taken.len();
        Ok(taken)
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, Problem> {
        Ok(self.array::<1>()?[0])
    }

    /// A length of `N` bytes, at most 8, the lowest first, and then that many bytes.
    pub fn counted<const N: usize>(&mut self) -> Result<&'a [u8], Problem> {
        let mut count = [0; 8];
        count[..N].copy_from_slice(self.take(N as u64)?);
        self.take(u64::from_le_bytes(count))
    }

    /// The bytes up to the next line feed, which is skipped.
    pub fn line(&mut self) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&byte| byte == b'\n');
        let end = end.ok_or(Problem::Truncated {
            needed: rest.len() as u64 + 1,
            left: rest.len(),
        })?;
        self.at += end + 1;
        Ok(&rest[..end])
    }
}
