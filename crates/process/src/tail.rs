//! Keeps the end of a program's output.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The last bytes of an output, shared between the thread that reads the output and other threads.
#[derive(Debug)]
pub struct Tail {
    most: usize,
    bytes: Mutex<VecDeque<u8>>,
}

impl Tail {
    /// Creates a buffer that keeps at most the last `most` bytes.
    pub fn new(most: usize) -> Self {
        Tail {
            most,
            bytes: Mutex::default(),
        }
    }

    /// Adds bytes at the end, and drops the oldest bytes beyond the limit.
    pub fn push(&self, more: &[u8]) {
        let mut bytes = self.locked();
        bytes.extend(more);
        let surplus = bytes.len().saturating_sub(self.most);
        bytes.drain(..surplus);
    }

    /// Reads an output until it is closed, and keeps its last bytes.
    pub fn read(&self, mut output: impl Read) {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            self.push(&buffer[..count]);
        }
    }

    /// The kept bytes as text. Invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.locked().iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn locked(&self) -> MutexGuard<'_, VecDeque<u8>> {
        // The bytes stay valid even if a thread panicked while it held the lock.
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept() {
        let tail = Tail::new(4);
        tail.read(&b"abc"[..]);
        tail.push(b"def");
        assert_eq!(tail.text(), "cdef");
    }
}
