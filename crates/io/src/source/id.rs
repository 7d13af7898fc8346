//! The identity of an input: its path, length and digest.

use std::io::{self, Read};
use std::path::PathBuf;

use crate::files::Hashed;
use gleaner_domain::Digest;
use gleaner_domain::results::run::Listed;

/// Identifies an input by its original bytes. A compressed file is hashed without being inflated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceId {
    /// The user-specified path; `-` means stdin.
    pub path: PathBuf,
    /// Length in bytes.
    pub length: u64,
    /// SHA-256 of the input's bytes.
    pub sha256: Digest,
}

impl From<&SourceId> for Listed {
    fn from(id: &SourceId) -> Self {
        Listed {
            path: id.path.display().to_string(),
            bytes: id.length,
            sha256: id.sha256.to_string(),
        }
    }
}

/// Reads a stream to its end, and returns its length and SHA-256.
pub fn hash(mut stream: impl Read) -> io::Result<(u64, Digest)> {
    let mut hashed = Hashed::new(io::sink());
    io::copy(&mut stream, &mut hashed)?;
    let (_, length, digest) = hashed.finish()?;
    Ok((length, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_hashed_whole() {
        assert_eq!(hash(&b"abc"[..]).unwrap(), (3, Digest::of(b"abc")));
    }
}
