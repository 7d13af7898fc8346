//! What an input is known by: its path and its bytes' digest.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;

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

/// Identifies an input by its bytes as they lie on disk, still compressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceId {
    /// The path as the user named it; `-` is stdin.
    pub path: PathBuf,
    /// Length in bytes.
    pub length: u64,
    /// SHA-256.
    pub sha256: Digest,
}

/// Length and SHA-256 of a stream.
pub(in crate::ingest) fn hash(mut stream: impl Read) -> io::Result<(u64, Digest)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut length = 0u64;
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Ok((length, Digest(hasher.finalize().into())));
        }
        hasher.update(&buffer[..read]);
        length += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Fixed examples; the digest of "abc" is that of FIPS 180-2.
    #[test]
    fn digests_are_shown_in_hexadecimal() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), digest);
        assert_eq!(hash(&b"abc"[..]).unwrap(), (3, Digest::of(b"abc")));
    }
}
