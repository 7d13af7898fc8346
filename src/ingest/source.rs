//! Where an input's bytes come from: a file or stdin, plain, gzipped or in a tar archive.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};

use super::events::gev;
use crate::error::{Error, Fault, Result};

/// Most bytes that a gzipped input may inflate to: 4 GiB.
///
/// It stops small files that inflate without end. A larger log can be inflated by
/// hand: what lies on disk as it is has no limit.
pub const INFLATED_LIMIT: u64 = 4 << 30;

/// The path that stands for stdin.
pub const STDIN: &str = "-";

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

/// What an input holds, told from its first bytes, or else from its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pandas pickle.
    Pickle,
    /// Apache Parquet.
    Parquet,
    /// This program's cache of an event log.
    Gev,
    /// JSON text.
    Json,
    /// TOML text.
    Toml,
    /// Comma-separated values, and whatever is nothing else.
    Csv,
}

/// An opened input. Its content can be read more than once.
#[derive(Debug)]
pub struct Source {
    id: SourceId,
    raw: Raw,
    gzipped: bool,
    member: Option<Member>,
    kind: Kind,
}

/// The bytes as they lie on disk; `Held` where they can be read once only, as from a pipe.
#[derive(Debug)]
enum Raw {
    File,
    Held(Vec<u8>),
}

/// A file within a tar archive.
#[derive(Debug)]
struct Member {
    name: String,
    offset: u64,
    length: u64,
}

impl Source {
    /// Opens a file, or stdin where `path` is `-`, hashes it and finds out what it holds.
    ///
    /// In a tar archive the content is the first file named `.pkl` or `.pickle`, or
    /// else the only file.
    ///
    /// # Errors
    /// The file cannot be read, is not sound gzip or tar, or is compressed in another way.
    pub fn open(path: &Path) -> Result<Self> {
        let (raw, length, sha256) = open_raw(path)?;
        let mut source = Source {
            id: SourceId {
                path: path.to_owned(),
                length,
                sha256,
            },
            raw,
            gzipped: false,
            member: None,
            kind: Kind::Csv,
        };
        source.gzipped = source.head()?.starts_with(&[0x1f, 0x8b]);
        let head = source.head()?;
        source.refuse_other_compression(&head)?;
        if is_tar(&head) || extension(&source.inner_name()) == "tar" {
            source.member = Some(source.find_member()?);
        }
        source.kind = kind_of(&source.head()?, &source.inner_name());
        Ok(source)
    }

    /// Path, length and SHA-256.
    pub fn id(&self) -> &SourceId {
        &self.id
    }

    /// The path as the user named it.
    pub fn path(&self) -> &Path {
        &self.id.path
    }

    /// What it holds.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The content, inflated, from its start.
    ///
    /// # Errors
    /// The file cannot be opened. Errors while reading are for [`Source::read_error`].
    pub fn reader(&self) -> Result<Box<dyn Read + '_>> {
        let inflated = self.inflated()?;
        match &self.member {
            None => Ok(inflated),
            Some(member) => Ok(Box::new(
                MemberReader::new(inflated, member).map_err(|e| self.read_error(e))?,
            )),
        }
    }

    /// The whole content, inflated.
    ///
    /// # Errors
    /// The file cannot be read, or is not sound gzip or tar.
    pub fn read_all(&self) -> Result<Cow<'_, [u8]>> {
        if let (Raw::Held(bytes), false, None) = (&self.raw, self.gzipped, &self.member) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = Vec::new();
        self.reader()?
            .read_to_end(&mut bytes)
            .map_err(|e| self.read_error(e))?;
        Ok(Cow::Owned(bytes))
    }

    /// What an error while reading the content means: the disk's fault, or the file's.
    pub fn read_error(&self, error: io::Error) -> Error {
        if error.raw_os_error().is_some() {
            return Error::io("read", self.path(), error);
        }
        let expected = match (self.gzipped, self.member.is_some()) {
            (true, _) => "a complete gzip file",
            (false, true) => "a complete tar archive",
            (false, false) => "a complete file",
        };
        self.fault(error.to_string(), expected).into()
    }

    /// A fault of this input as a whole.
    pub fn fault(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::of(self.path(), found, expected)
    }

    fn inflated(&self) -> Result<Box<dyn Read + '_>> {
        let raw: Box<dyn Read + '_> = match &self.raw {
            Raw::Held(bytes) => Box::new(bytes.as_slice()),
            Raw::File => Box::new(open_file(self.path())?),
        };
        if !self.gzipped {
            return Ok(raw);
        }
        let inflater = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, raw));
        Ok(Box::new(Limited {
            inner: inflater,
            left: INFLATED_LIMIT,
        }))
    }

    /// The first bytes of the content, as far as it is unwrapped yet.
    fn head(&self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader()?
            .take(512)
            .read_to_end(&mut head)
            .map_err(|e| self.read_error(e))?;
        Ok(head)
    }

    /// The name that tells the content's format, without the wrappings' endings.
    fn inner_name(&self) -> String {
        if let Some(member) = &self.member {
            return member.name.clone();
        }
        let name = self.path().to_string_lossy();
        match (name.strip_suffix(".tgz"), name.strip_suffix(".gz")) {
            (Some(stem), _) => format!("{stem}.tar"),
            (_, Some(stem)) => stem.to_owned(),
            _ => name.into_owned(),
        }
    }

    fn refuse_other_compression(&self, head: &[u8]) -> Result<()> {
        let known: [(&[u8], &str); 5] = [
            (b"BZh", "bzip2"),
            (b"\xfd7zXZ", "xz"),
            (b"\x28\xb5\x2f\xfd", "Zstandard"),
            (b"PK\x03\x04", "zip"),
            (b"\x1f\x8b", "doubly gzipped"),
        ];
        match known.iter().find(|(magic, _)| head.starts_with(magic)) {
            None => Ok(()),
            Some((_, name)) => Err(self
                .fault(format!("{name} data"), "a plain file, .gz, .tar or .tar.gz")
                .remedy("decompress the file first")
                .into()),
        }
    }

    fn find_member(&self) -> Result<Member> {
        let mut archive = tar::Archive::new(self.inflated()?);
        let mut files = 0usize;
        let mut first = None;
        for entry in archive.entries().map_err(|e| self.read_error(e))? {
            let entry = entry.map_err(|e| self.read_error(e))?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let member = Member {
                name: String::from_utf8_lossy(&entry.path_bytes()).into_owned(),
                offset: entry.raw_file_position(),
                length: entry.size(),
            };
            if is_pickle_name(&member.name) {
                return Ok(member);
            }
            files += 1;
            first.get_or_insert(member);
        }
        match first {
            Some(member) if files == 1 => Ok(member),
            _ => Err(self
                .fault(
                    format!("a tar archive of {files} files, none of them named .pkl or .pickle"),
                    "one file, or one so named",
                )
                .into()),
        }
    }
}

fn open_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| Error::io("read", path, e))
}

fn open_raw(path: &Path) -> Result<(Raw, u64, Digest)> {
    let io_error = |e| Error::io("read", path, e);
    if path == Path::new(STDIN) {
        return hold(io::stdin().lock()).map_err(io_error);
    }
    let file = open_file(path)?;
    if !file.metadata().map_err(io_error)?.is_file() {
        return hold(file).map_err(io_error);
    }
    let (length, sha256) = hash(file).map_err(io_error)?;
    Ok((Raw::File, length, sha256))
}

fn hold(mut stream: impl Read) -> io::Result<(Raw, u64, Digest)> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    let sha256 = Digest::of(&bytes);
    let length = bytes.len() as u64;
    Ok((Raw::Held(bytes), length, sha256))
}

/// Length and SHA-256 of a stream.
pub(super) fn hash(mut stream: impl Read) -> io::Result<(u64, Digest)> {
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

fn is_tar(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// The name's extension in lower case; empty where it has none.
fn extension(name: &str) -> String {
    let extension = Path::new(name).extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}

fn is_pickle_name(name: &str) -> bool {
    matches!(extension(name).as_str(), "pkl" | "pickle")
}

fn kind_of(head: &[u8], name: &str) -> Kind {
    match head {
        [0x80, 2..=5, ..] => return Kind::Pickle,
        [b'P', b'A', b'R', b'1', ..] => return Kind::Parquet,
        _ if head.starts_with(&gev::MAGIC) => return Kind::Gev,
        _ => {}
    }
    match extension(name).as_str() {
        "pkl" | "pickle" => Kind::Pickle,
        "parquet" => Kind::Parquet,
        "gev" => Kind::Gev,
        "json" => Kind::Json,
        "toml" => Kind::Toml,
        "csv" => Kind::Csv,
        _ => text_kind(head),
    }
}

fn text_kind(head: &[u8]) -> Kind {
    let text = head.trim_ascii_start();
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
    match text.first() {
        Some(b'{') => Kind::Json,
        Some(b'[' | b'#') => Kind::Toml,
        _ if first_line.contains(&b'=') => Kind::Toml,
        _ => Kind::Csv,
    }
}

/// Fails once more than `left` bytes came.
#[derive(Debug)]
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

/// One file of a tar archive; at its end the rest of the archive is read too, so
/// that a cut or damaged one is noticed.
struct MemberReader<R> {
    inner: R,
    left: u64,
}

impl<R: Read> MemberReader<R> {
    fn new(mut inner: R, member: &Member) -> io::Result<Self> {
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
    fn what_inflates_beyond_the_limit_is_stopped() {
        assert_eq!(read_limited(100).unwrap(), 100);
        let message = read_limited(99).unwrap_err().to_string();
        assert_eq!(message, "a file that inflates to more than 4 GiB");
    }

    // Fixed examples; the digest of "abc" is that of FIPS 180-2.
    #[test]
    fn digests_are_shown_in_hexadecimal() {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), digest);
        assert_eq!(hash(&b"abc"[..]).unwrap(), (3, Digest::of(b"abc")));
    }

    #[test]
    fn the_first_bytes_tell_the_format_and_else_the_name() {
        for (head, name, kind) in [
            (&b"\x80\x04\x95"[..], "x.csv", Kind::Pickle),
            (b"PAR1\x15", "x", Kind::Parquet),
            (b"\x89GEV\r\n\x1a\n\x01", "x", Kind::Gev),
            (b"time,a\n", "x.parquet", Kind::Parquet),
            (b"time,a\n", "x.CSV", Kind::Csv),
            (b"{\"task\": []}", "x", Kind::Json),
            (b"# tasks\n[[task]]", "-", Kind::Toml),
            (b"title = 1\n", "-", Kind::Toml),
            (b"time,a=b\n", "x.csv", Kind::Csv),
            (b"", "-", Kind::Csv),
        ] {
            assert_eq!(kind_of(head, name), kind, "{name}");
        }
    }
}
