//! A writer that computes the length and SHA-256 digest of the bytes passed through it.

use std::io::{self, Write};

use gleaner_domain::Digest;
use sha2::{Digest as _, Sha256};

/// A writer that counts and hashes the bytes that it passes on.
#[derive(Debug)]
pub struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
    /// Bytes of small writes, buffered for the hasher and the inner writer.
    buffer: Vec<u8>,
}

/// Number of bytes that are buffered before they are hashed and passed on.
const BUFFER: usize = 1 << 16;

impl<W: Write> Hashed<W> {
    /// A writer that passes all bytes on to `inner`.
    pub fn new(inner: W) -> Self {
        Hashed {
            inner,
            hasher: Sha256::new(),
            bytes: 0,
            buffer: Vec::with_capacity(BUFFER),
        }
    }

    /// Returns the inner writer, and the length and digest of everything written to it.
    ///
    /// # Errors
    /// The inner writer fails.
    pub fn finish(mut self) -> io::Result<(W, u64, Digest)> {
        self.pass_on()?;
        Ok((
            self.inner,
            self.bytes,
            Digest(self.hasher.finalize().into()),
        ))
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.hasher.update(&self.buffer);
        self.bytes += self.buffer.len() as u64;
        let written = self.inner.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BUFFER {
            self.pass_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_hashes_the_bytes_it_writes() {
        for size in [1, 7, BUFFER, BUFFER + 1] {
            let bytes: Vec<u8> = (0..3 * BUFFER).map(|i| (i % 251) as u8).collect();
            let mut out = Hashed::new(Vec::new());
            bytes
                .chunks(size)
                .for_each(|chunk| out.write_all(chunk).unwrap());
            let (passed, length, digest) = out.finish().unwrap();
            assert!(passed == bytes);
            assert_eq!((length, digest), (bytes.len() as u64, Digest::of(&bytes)));
        }
    }
}
