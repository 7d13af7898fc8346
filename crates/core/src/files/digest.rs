//! SHA-256 of bytes, and of the bytes that pass through a writer.

use std::fmt;
use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest; shown as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A writer that counts and hashes the bytes that it passes on.
#[derive(Debug)]
pub struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
    /// Small writes, collected for the hasher and the writer below.
    buffer: Vec<u8>,
}

/// Number of bytes collected before they are hashed and passed on.
const BUFFER: usize = 1 << 16;

impl<W: Write> Hashed<W> {
    /// A writer that passes on to `inner`.
    pub fn new(inner: W) -> Self {
        Hashed {
            inner,
            hasher: Sha256::new(),
            bytes: 0,
            buffer: Vec::with_capacity(BUFFER),
        }
    }

    /// The writer below, and the length and digest of all that was written to it.
    ///
    /// # Errors
    /// The error of the writer below.
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

    // The digest of "abc" is that of FIPS 180-2.
    #[test]
    fn digests_are_shown_in_hexadecimal() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), digest);
    }

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
