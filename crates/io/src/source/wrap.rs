//! Unwraps inputs: inflates gzip and Zstandard up to a size limit, and reads files in tar archives.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::kind::is_pickle_name;

/// Maximum size to which a compressed input may inflate: 4 GiB.
///
/// The limit protects against small files that inflate endlessly. Users can inflate a larger log
/// themselves, because uncompressed files have no limit.
pub const INFLATED_LIMIT: u64 = 4 << 30;

/// A file in a tar archive.
#[derive(Debug)]
pub(super) struct Member {
    pub name: String,
    /// The offset of the file's content in the archive, in bytes.
    offset: u64,
    length: u64,
}

impl Member {
    /// Finds the file to read: the first file whose name ends in `.pkl` or `.pickle`, or else the
    /// only file. If there is no such file, `Err` contains the number of files in the archive.
    pub fn find(archive: impl Read) -> io::Result<Result<Member, usize>> {
        let mut first = None;
        let mut files = 0;
        for entry in tar::Archive::new(archive).entries()? {
            let entry = entry?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let member = Member {
                name: String::from_utf8_lossy(&entry.path_bytes()).into_owned(),
                offset: entry.raw_file_position(),
                length: entry.size(),
            };
            if is_pickle_name(&member.name) {
                return Ok(Ok(member));
            }
            files += 1;
            first.get_or_insert(member);
        }
        Ok(first.filter(|_| files == 1).ok_or(files))
    }
}

/// Whether an input that begins with these bytes is a tar archive.
pub fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The compression format of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstandard,
}

impl Compression {
    /// Detects the compression from the first bytes of a stream.
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&[0x1f, 0x8b]) {
            return Some(Compression::Gzip);
        }
        head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
            .then_some(Compression::Zstandard)
    }

    /// The name of the format, for messages.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstandard => "Zstandard",
        }
    }

    /// Inflates a stream without a limit, for readers that keep only a small part of it in memory.
    pub fn decode<'r>(self, raw: impl BufRead + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Compression::Gzip => Box::new(MultiGzDecoder::new(raw)),
            Compression::Zstandard => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
        })
    }

    /// Inflates a stream. Reading fails if the stream inflates to more than [`INFLATED_LIMIT`] bytes.
    pub fn inflate<'r>(self, raw: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        let raw = BufReader::with_capacity(1 << 16, raw);
        Ok(Box::new(Limited {
            inner: self.decode(raw)?,
            left: INFLATED_LIMIT,
        }))
    }
}

/// A stream that fails once the inner stream has returned more than `left` bytes.
struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => {
                return Err(io::Error::other(format!(
                    "a file that inflates to more than {} GiB",
                    INFLATED_LIMIT >> 30
                )));
            }
        }
        Ok(read)
    }
}

/// Reads one file of a tar archive. At the end of this file it also reads the rest of the archive,
/// to detect a truncated or damaged archive.
pub(super) struct MemberReader<R> {
    inner: R,
    left: u64,
}

impl<R: Read> MemberReader<R> {
    /// Creates a reader of `member` in the archive `inner`, from which nothing has been read yet.
    pub fn new(mut inner: R, member: &Member) -> io::Result<Self> {
        io::copy(&mut inner.by_ref().take(member.offset), &mut io::sink())?;
        Ok(MemberReader {
            inner,
            left: member.length,
        })
    }
}

impl<R: Read> Read for MemberReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            io::copy(&mut self.inner, &mut io::sink())?;
            return Ok(0);
        }
        let most = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..most])?;
        if read == 0 && most > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "an archive that ends within a file",
            ));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_limited(left: u64) -> io::Result<usize> {
        let mut inflated = Vec::new();
        Limited {
            inner: &[7u8; 100][..],
            left,
        }
        .read_to_end(&mut inflated)
    }

    #[test]
    fn inflating_beyond_the_limit_is_an_error() {
        assert_eq!(read_limited(100).unwrap(), 100);
        let message = read_limited(99).unwrap_err().to_string();
        assert_eq!(message, "a file that inflates to more than 4 GiB");
    }
}
