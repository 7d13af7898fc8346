//! A file on disk that is read more than once. A change to the file between two reads is detected.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::Digest;

/// Number of bytes in a chunk, the unit in which the file is read and its digests are compared.
const CHUNK: usize = 1 << 18;

/// An open file, with a digest for each chunk: the digest of the content up to the end of the
/// chunk. Every pass over the file compares its bytes with these digests, so the parsed bytes are
/// the same as the hashed bytes.
#[derive(Debug)]
pub(super) struct Disk {
    /// The file is kept open, so that another file that replaces it under the same name is never
    /// read.
    file: Mutex<File>,
    /// SHA-256 of the bytes from the start of the file to the end of each chunk.
    prefixes: Vec<Digest>,
}

/// The file has changed since it was hashed.
#[derive(Debug, thiserror::Error)]
#[error("the file was changed while it was read; run the command again")]
pub(super) struct Changed;

impl Disk {
    /// Reads the file once from its start, and computes the digests. Returns the file with its length and SHA-256.
    pub fn open(mut file: File) -> io::Result<(Self, u64, Digest)> {
        let (mut hasher, mut prefixes, mut length) = (Sha256::new(), Vec::new(), 0);
        let mut chunk = Vec::new();
        loop {
            fill(&mut file, &mut chunk)?;
            if chunk.is_empty() {
                break;
            }
            hasher.update(&chunk);
            prefixes.push(so_far(&hasher));
            length += chunk.len() as u64;
        }
        let file = Mutex::new(file);
        Ok((Disk { file, prefixes }, length, so_far(&hasher)))
    }

    /// Returns a reader that starts at the beginning of the content. If the bytes differ from the hashed bytes, reading
    /// fails with an error that contains [`Changed`].
    pub fn reader(&self) -> Reader<'_> {
        Reader {
            disk: self,
            hasher: Sha256::new(),
            next: 0,
            chunk: Vec::new(),
            used: 0,
        }
    }

    /// Reads the chunk with this index. After the end of the file, the chunk is empty.
    fn read(&self, index: usize, chunk: &mut Vec<u8>) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(index as u64 * CHUNK as u64))?;
        fill(&mut *file, chunk)
    }
}

/// The digest of the bytes passed to the hasher so far.
fn so_far(hasher: &Sha256) -> Digest {
    Digest(hasher.clone().finalize().into())
}

/// Reads a [`Disk`] from its start.
pub(super) struct Reader<'d> {
    disk: &'d Disk,
    hasher: Sha256,
    /// Index of the chunk to read next.
    next: usize,
    chunk: Vec<u8>,
    /// Number of bytes of `chunk` that have already been returned to the caller.
    used: usize,
}

impl Reader<'_> {
    /// Reads the next chunk, and checks the digest of all bytes up to its end. At the end of the file, the chunk is
    /// empty.
    fn advance(&mut self) -> io::Result<()> {
        self.used = 0;
        self.disk.read(self.next, &mut self.chunk)?;
        let expected = self.disk.prefixes.get(self.next).copied();
        let found = match self.chunk.as_slice() {
            [] => None,
            bytes => {
                self.hasher.update(bytes);
                self.next += 1;
                Some(so_far(&self.hasher))
            }
        };
        if found != expected {
            self.chunk.clear();
            return Err(io::Error::other(Changed));
        }
        Ok(())
    }
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used == self.chunk.len() {
            self.advance()?;
        }
        let read = (&self.chunk[self.used..]).read(buffer)?;
        self.used += read;
        Ok(read)
    }
}

/// Fills `buffer` with the next chunk, which is shorter than [`CHUNK`] at the end of the stream.
fn fill(stream: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    stream.take(CHUNK as u64).read_to_end(buffer).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn disk(bytes: &[u8]) -> (tempfile::NamedTempFile, Disk) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let (disk, length, digest) = Disk::open(file.reopen().unwrap()).unwrap();
        assert_eq!((length, digest), (bytes.len() as u64, Digest::of(bytes)));
        (file, disk)
    }

    fn read(disk: &Disk) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        disk.reader().read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn the_bytes_read_are_the_bytes_hashed() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 253) as u8).collect();
            let (_file, disk) = disk(&bytes);
            assert!(read(&disk).unwrap() == bytes, "{length}");
            assert!(read(&disk).unwrap() == bytes, "{length}");
        }
    }

    #[test]
    fn a_change_in_place_is_noticed_and_a_replacement_is_not_read() {
        let bytes = vec![7; CHUNK + 100];
        let changes: [fn(&mut File) -> io::Result<()>; 4] = [
            |file| {
                file.seek(SeekFrom::Start(CHUNK as u64 + 50))?;
                file.write_all(&[8])
            },
            |file| file.set_len(CHUNK as u64 + 99),
            |file| file.set_len(CHUNK as u64),
            |file| file.set_len(CHUNK as u64 + 101),
        ];
        for change in changes {
            let (file, disk) = disk(&bytes);
            change(&mut File::options().write(true).open(file.path()).unwrap()).unwrap();
            let error = read(&disk).unwrap_err().to_string();
            assert_eq!(error, Changed.to_string());
        }
        let (file, disk) = disk(&bytes);
        let other = tempfile::NamedTempFile::new_in(file.path().parent().unwrap()).unwrap();
        other.persist(file.path()).unwrap();
        assert!(read(&disk).unwrap() == bytes);
    }
}
