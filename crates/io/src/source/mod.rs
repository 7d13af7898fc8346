//! Opens inputs: files or stdin, which may be plain, compressed or in a tar archive.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::Loaded;
use gleaner_domain::error::{Error, Fault, Result};

mod disk;
mod id;
mod kind;
mod whole;
mod wrap;

pub use gleaner_domain::Digest;
pub use id::{SourceId, hash};
pub use kind::{GEV_MAGIC, Kind};
pub use whole::{TEXT_LIMIT, TOML_LIMIT, WHOLE_LIMIT};
pub use wrap::INFLATED_LIMIT;

use disk::{Changed, Disk};
pub use wrap::{Compression, is_tar};
use wrap::{Member, MemberReader};

/// The path that stands for stdin.
pub const STDIN: &str = "-";

/// The first bytes of all files of one format, and the name of the format in messages.
type Known = (&'static [u8], &'static str);

const ZIP: Known = (b"PK\x03\x04", "zip");

/// Compression formats that are refused. Inflated content in gzip or Zstandard format was compressed twice, which is
/// not supported.
const UNREADABLE: [Known; 4] = [
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "doubly compressed"),
    (b"\x1f\x8b", "doubly compressed"),
];

/// An opened input. Its content can be read more than once, and always matches the digest: if the file changes after it
/// is opened, reading fails.
#[derive(Debug)]
pub struct Source {
    id: SourceId,
    raw: Raw,
    compression: Option<Compression>,
    member: Option<Member>,
    kind: Kind,
}

/// The original bytes, which may be compressed. If the source can be read only once, like a pipe, they are `Held` in
/// memory.
#[derive(Debug)]
enum Raw {
    Disk(Disk),
    Held(Vec<u8>),
}

impl Source {
    /// Opens a file, or stdin if `path` is `-`. Hashes the input and detects its format.
    ///
    /// In a tar archive, the content is the first file whose name ends in `.pkl` or `.pickle`. If there is no such
    /// file, the archive must contain exactly one file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged (gzip, Zstandard or tar), is compressed in another format, or is an archive
    /// of several files without a pickle.
    pub fn open(path: &Path) -> Result<Self> {
        Self::opened(path, &[ZIP])
    }

    /// Like [`Source::open`], but also accepts a zip archive, the format in which PyTorch saves tensors.
    ///
    /// # Errors
    /// Same as [`Source::open`].
    pub fn open_tensors(path: &Path) -> Result<Self> {
        Self::opened(path, &[])
    }

    fn opened(path: &Path, refused: &[Known]) -> Result<Self> {
        let (raw, length, sha256) = open_raw(path)?;
        let mut source = Source {
            id: SourceId {
                path: path.to_owned(),
                length,
                sha256,
            },
            raw,
            compression: None,
            member: None,
            kind: Kind::Csv,
        };
        source.compression = Compression::of(&source.head()?);
        let head = source.head()?;
        source.refuse_other_compression(&head, refused)?;
        if is_tar(&head) || kind::extension(&source.inner_name()) == "tar" {
            source.member = Some(source.find_member()?);
        }
        source.kind = Kind::of(&source.head()?, &source.inner_name());
        Ok(source)
    }

    /// Hashes a file of any kind without parsing it. Returns its path, length and SHA-256.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn identify(path: &Path) -> Result<SourceId> {
        let (_, length, sha256) = open_raw(path)?;
        Ok(SourceId {
            path: path.to_owned(),
            length,
            sha256,
        })
    }

    /// The path, length and SHA-256 of the input.
    pub fn id(&self) -> &SourceId {
        &self.id
    }

    /// The user-specified path.
    pub fn path(&self) -> &Path {
        &self.id.path
    }

    /// The detected format of the content.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns a stream of the inflated content, from its start.
    ///
    /// # Errors
    /// The file cannot be opened. Pass errors from the returned stream to [`Source::read_error`].
    pub fn reader(&self) -> Result<Box<dyn Read + '_>> {
        let inflated = self.inflated()?;
        match &self.member {
            None => Ok(inflated),
            Some(member) => Ok(Box::new(
                MemberReader::new(inflated, member).map_err(|e| self.read_error(e))?,
            )),
        }
    }

    /// Returns the whole inflated content. A compressed input may inflate to at most [`WHOLE_LIMIT`]
    /// bytes. A plain file may be 16 times as large, because its size is visible to the user.
    ///
    /// # Errors
    /// The file cannot be read, is a damaged gzip, Zstandard or tar file, or is too large.
    pub fn read_all(&self) -> Result<Cow<'_, [u8]>> {
        self.read_up_to(WHOLE_LIMIT)
    }

    /// Like [`Source::read_all`], but a compressed input may inflate to at most `limit` bytes. Text formats have lower
    /// limits because parsed text takes many times its length in memory.
    ///
    /// # Errors
    /// Same as [`Source::read_all`].
    pub fn read_up_to(&self, limit: u64) -> Result<Cow<'_, [u8]>> {
        /// Ratio of the size limit of a plain file to the limit of a compressed file.
        const PLAIN: u64 = 16;
        let most = self.compression.map_or(PLAIN * limit, |_| limit);
        if let (Raw::Held(bytes), None, None) = (&self.raw, self.compression, &self.member)
            && bytes.len() as u64 <= most
        {
            return Ok(Cow::Borrowed(bytes));
        }
        match whole::read(self.reader()?, most) {
            Ok(Some(bytes)) => Ok(Cow::Owned(bytes)),
            Ok(None) => Err(self.too_large(most).into()),
            Err(error) => Err(self.read_error(error)),
        }
    }

    fn too_large(&self, limit: u64) -> Fault {
        let size = whole::size(limit);
        if self.compression.is_none() {
            return self.fault(format!("a file of more than {size}"), "a smaller file");
        }
        let found = format!("a file that inflates to more than {size}");
        let fault = self.fault(found, "a smaller file");
        fault.remedy("if this size is intended, decompress the file first")
    }

    /// The error for a failed read: an I/O error of the operating system, or a fault that reports a damaged file.
    pub fn read_error(&self, error: io::Error) -> Error {
        let changed = error.get_ref().is_some_and(|inner| inner.is::<Changed>());
        if changed || error.raw_os_error().is_some() {
            return Error::io("read", self.path(), error);
        }
        let expected = match (self.compression, self.member.is_some()) {
            (Some(compression), _) => format!("a complete {} file", compression.name()),
            (None, true) => "a complete tar archive".to_owned(),
            (None, false) => "a complete file".to_owned(),
        };
        self.fault(error.to_string(), expected).into()
    }

    /// Creates a fault that concerns the input as a whole, without a line or row.
    pub fn fault(&self, found: impl Into<String>, expected: impl Into<String>) -> Fault {
        Fault::of(self.path(), found, expected)
    }

    /// Wraps a value that was read from this input alone. The result has no notes.
    pub fn loaded<T>(&self, value: T) -> Loaded<T> {
        Loaded {
            value,
            sources: vec![self.id.clone()],
            notes: Vec::new(),
        }
    }

    /// A stream of the decompressed content. A tar archive is not unpacked.
    fn inflated(&self) -> Result<Box<dyn Read + '_>> {
        let raw: Box<dyn Read + '_> = match &self.raw {
            Raw::Held(bytes) => Box::new(bytes.as_slice()),
            Raw::Disk(disk) => Box::new(disk.reader()),
        };
        match self.compression {
            None => Ok(raw),
            Some(compression) => compression.inflate(raw).map_err(|e| self.read_error(e)),
        }
    }

    /// The first bytes of the content. While the input is being opened, these bytes may still be compressed or belong
    /// to an archive.
    fn head(&self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        self.reader()?
            .take(512)
            .read_to_end(&mut head)
            .map_err(|e| self.read_error(e))?;
        Ok(head)
    }

    /// The name whose extension shows the format. For an archive, this is the name of the file in the archive.
    /// Otherwise it is the input's name without `.gz` or `.zst`, and with `.tar` instead of `.tgz`.
    fn inner_name(&self) -> String {
        if let Some(member) = &self.member {
            return member.name.clone();
        }
        let name = self.path().to_string_lossy();
        if let Some(stem) = name.strip_suffix(".tgz") {
            return format!("{stem}.tar");
        }
        let endings = [".gz", ".zst"];
        let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
        stem.map_or_else(|| name.to_string(), str::to_owned)
    }

    fn refuse_other_compression(&self, head: &[u8], more: &[Known]) -> Result<()> {
        let mut known = UNREADABLE.iter().chain(more);
        match known.find(|(magic, _)| head.starts_with(magic)) {
            None => Ok(()),
            Some((_, name)) => Err(self
                .fault(
                    format!("{name} data"),
                    "a plain file, .gz, .zst, .tar or .tar.gz",
                )
                .remedy("decompress the file first")
                .into()),
        }
    }

    fn find_member(&self) -> Result<Member> {
        let found = Member::find(self.inflated()?).map_err(|e| self.read_error(e))?;
        found.map_err(|files| {
            let found = format!("{files} files in an archive, none named .pkl or .pickle");
            self.fault(found, "a single file, or a file with such a name")
                .into()
        })
    }
}

/// Opens a regular file for repeated reading. Stdin and special files, such as pipes and devices, may be endless, so at
/// most [`WHOLE_LIMIT`] bytes are read from them into memory. Also returns the length and SHA-256.
fn open_raw(path: &Path) -> Result<(Raw, u64, Digest)> {
    let io_error = |e| Error::io("read", path, e);
    if path == Path::new(STDIN) {
        return hold(io::stdin().lock()).map_err(io_error);
    }
    let file = File::open(path).map_err(io_error)?;
    if !file.metadata().map_err(io_error)?.is_file() {
        return hold(file).map_err(io_error);
    }
    let (disk, length, sha256) = Disk::open(file).map_err(io_error)?;
    Ok((Raw::Disk(disk), length, sha256))
}

fn hold(stream: impl Read) -> io::Result<(Raw, u64, Digest)> {
    let bytes = whole::read(stream, WHOLE_LIMIT)?.ok_or_else(|| {
        let size = whole::size(WHOLE_LIMIT);
        io::Error::other(format!(
            "more than {size} from a pipe or a device; write the data to a file first"
        ))
    })?;
    let sha256 = Digest::of(&bytes);
    let length = bytes.len() as u64;
    Ok((Raw::Held(bytes), length, sha256))
}
