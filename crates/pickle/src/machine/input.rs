//! Reads the operands that follow an instruction, with bounds checks.

use super::{Machine, op};
use crate::error::Problem;

impl<'a, G: Copy> Machine<'a, '_, G> {
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.next..];
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| rest.get(..count));
        let taken = taken.ok_or_else(|| self.truncated(count))?;
        self.next += taken.len();
        Ok(taken)
    }

    /// Returns the problem to report if the current instruction needs more bytes than remain.
    pub(super) fn truncated(&self, needed: u64) -> Problem {
        Problem::Truncated {
            instruction: op::name(self.code),
            needed,
            left: self.bytes.len() - self.next,
        }
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8, Problem> {
        Ok(self.array::<1>()?[0])
    }

    /// The bytes after a length, which is a little-endian integer of `N` bytes (at most 8).
    pub(super) fn counted<const N: usize>(&mut self) -> Result<&'a [u8], Problem> {
        let mut count = [0; 8];
        count[..N].copy_from_slice(self.take(N as u64)?);
        self.take(u64::from_le_bytes(count))
    }

    /// The UTF-8 text up to the next line feed. The line feed is skipped. The text must be shorter
    /// than `limit` bytes.
    pub(super) fn line(&mut self, limit: usize) -> Result<&'a str, Problem> {
        let rest = &self.bytes[self.next..];
        let window = &rest[..rest.len().min(limit)];
        match window.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.next += end + 1;
                self.utf8(&window[..end])
            }
            None if rest.len() < limit => Err(self.truncated(rest.len() as u64 + 1)),
            None => Err(self.needs("a shorter name", format!("more than {limit} bytes"))),
        }
    }

    pub(super) fn utf8(&self, bytes: &'a [u8]) -> Result<&'a str, Problem> {
        std::str::from_utf8(bytes).map_err(|_| self.needs("text in UTF-8", "invalid bytes"))
    }
}
