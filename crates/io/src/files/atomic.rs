//! Atomic file writes: a file is either replaced as a whole or not at all.
//!
//! The content is first written to a temporary file in the same directory. When that file is complete, it is synced to
//! disk and renamed. A reader therefore finds either the old file or the complete new file. If the process is killed,
//! it leaves at most a hidden `.NAME.XXXXXX.part` behind.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

use gleaner_domain::error::{Error, Result};

/// Suffix of the name of a temporary file. Temporary files are hidden: their names begin with a dot.
pub const UNFINISHED_ENDING: &str = ".part";

/// Temporary files that are not yet renamed or removed.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set of paths stays valid even if a thread panics while it holds the lock.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every temporary file of this process, which is about to end. The lock is never released, so no thread can
/// create a file or move a file into place afterwards.
pub fn discard_unfinished() {
    let files = unfinished();
    for path in files.iter() {
        // The process is about to end, so a failure is ignored.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(files);
}

/// Whether a file with this name is a temporary file, which a killed process may have left behind.
pub fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.ends_with(UNFINISHED_ENDING)
}

/// Writes a file with the content that `fill` writes. An existing file is either replaced atomically or stays
/// unchanged.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, fill: impl FnOnce(&mut AtomicFile) -> io::Result<()>) -> Result<()> {
    let mut out = AtomicFile::create(path)?;
    fill(&mut out).map_err(|error| Error::io("write", path, error))?;
    out.finish()
}

/// Writes a file with these bytes. An existing file is either replaced atomically or stays unchanged.
///
/// # Errors
/// The file cannot be written.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, |out| out.write_all(bytes))
}

/// A file that is being written. If this value is dropped before [`AtomicFile::finish`] is called, an existing file at
/// the path stays unchanged.
///
/// A path that leads to something other than a plain file, such as `/dev/stdout` or a named
/// pipe, is written directly. If the path is a symbolic link, the target of the link is replaced.
#[derive(Debug)]
pub struct AtomicFile {
    /// The user-specified path, for messages.
    path: PathBuf,
    out: BufWriter<Sink>,
}

#[derive(Debug)]
enum Sink {
    Temporary(TemporaryFile),
    Direct(File),
}

/// A temporary file, in the directory of the file that it will replace.
#[derive(Debug)]
struct TemporaryFile {
    file: NamedTempFile,
    target: PathBuf,
    registration: Registration,
}

/// The entry of a temporary file in [`UNFINISHED`]. Dropping this value removes the entry.
#[derive(Debug)]
struct Registration(PathBuf);

impl Drop for Registration {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

impl AtomicFile {
    /// Starts writing a file.
    ///
    /// # Errors
    /// The file, or a temporary file in its directory, cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let sink = Sink::create(path).map_err(|error| Error::io("create", path, error))?;
        Ok(AtomicFile {
            path: path.to_owned(),
            out: BufWriter::with_capacity(1 << 16, sink),
        })
    }

    /// Syncs the file to disk and moves it into place.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<()> {
        self.close()?.place()
    }

    /// Syncs the file to disk and closes it, but does not move it into place yet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(self) -> Result<ClosedFile> {
        let AtomicFile { path, out } = self;
        let sink = out.into_inner().map_err(|error| error.into_error());
        let closed = sink.and_then(|sink| match sink {
            Sink::Temporary(temporary) => temporary.close().map(Some),
            Sink::Direct(_) => Ok(None),
        });
        match closed {
            Ok(beside) => Ok(ClosedFile { path, beside }),
            Err(error) => Err(Error::io("write", path, error)),
        }
    }
}

/// A complete file that is not yet in place. It is closed and uses no file descriptor, so a run can have any number of
/// such files. If this value is dropped before [`ClosedFile::place`] is called, an existing file at the path stays
/// unchanged.
#[derive(Debug)]
pub struct ClosedFile {
    path: PathBuf,
    /// The temporary file; `None` if the file was written directly.
    beside: Option<Closed>,
}

/// A complete temporary file, in the same directory as the file that it will replace.
#[derive(Debug)]
struct Closed {
    file: TempPath,
    target: PathBuf,
    registration: Registration,
}

impl ClosedFile {
    /// Moves the file into place.
    ///
    /// # Errors
    /// The file cannot be renamed.
    pub fn place(self) -> Result<()> {
        let placed = self.beside.map_or(Ok(()), Closed::place);
        placed.map_err(|error| Error::io("write", self.path, error))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Sink {
    fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(path)?;
                Ok(Sink::Direct(file))
            }
            // A symbolic link is kept, and its target is replaced.
            Ok(_) => TemporaryFile::create(fs::canonicalize(path)?).map(Sink::Temporary),
            Err(_) => TemporaryFile::create(path.to_owned()).map(Sink::Temporary),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Temporary(temporary) => temporary.file.as_file_mut().write(bytes),
            Sink::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Temporary(temporary) => temporary.file.as_file_mut().flush(),
            Sink::Direct(file) => file.flush(),
        }
    }
}

impl TemporaryFile {
    fn create(target: PathBuf) -> io::Result<Self> {
        let replaced = match fs::metadata(&target) {
            Ok(found) => {
                // A read-only file must not be replaced, even if its directory is writable.
                File::options().write(true).open(&target)?;
                Some(found.permissions())
            }
            Err(_) => None,
        };
        let mut builder = tempfile::Builder::new();
        let prefix = prefix(&target)?;
        builder.prefix(&prefix).suffix(UNFINISHED_ENDING);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The lock is held until the file is registered, so that the clean-up after a signal cannot
        // miss a file that exists but is not registered.
        let mut files = unfinished();
        let file = builder.tempfile_in(folder(&target))?;
        let path = file.path().to_owned();
        files.insert(path.clone());
        drop(files);
        if let Some(permissions) = replaced {
            file.as_file().set_permissions(permissions)?;
        }
        Ok(TemporaryFile {
            file,
            target,
            registration: Registration(path),
        })
    }

    /// Syncs the file to disk and closes it.
    fn close(self) -> io::Result<Closed> {
        self.file.as_file().sync_data()?;
        Ok(Closed {
            file: self.file.into_temp_path(),
            target: self.target,
            registration: self.registration,
        })
    }
}

impl Closed {
    /// Renames the file to its target.
    fn place(self) -> io::Result<()> {
        let Closed {
            file,
            target,
            registration,
        } = self;
        let files = unfinished();
        let placed = file.persist(&target);
        drop(files);
        drop(registration);
        placed.map(drop).map_err(|failed| failed.error)
    }
}

/// The prefix of the name of a temporary file for `target`.
fn prefix(target: &Path) -> io::Result<OsString> {
    /// Maximum length, in bytes, of a file name that is copied into the temporary name.
    const LONGEST: usize = 200;
    let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut prefix = OsString::from(".");
    prefix.push(match name.len() {
        0..=LONGEST => name,
        _ => OsStr::new("gleaner"),
    });
    prefix.push(".");
    Ok(prefix)
}

/// The directory of a file.
fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Syncs the entries of a directory to disk. Failures are ignored, because some file systems cannot sync a directory.
pub fn sync_directory(path: &Path) {
    if let Ok(directory) = File::open(path) {
        let _ = directory.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_keeps_its_content_until_the_new_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "old").unwrap();
        let mut out = AtomicFile::create(&path).unwrap();
        out.write_all(b"new").unwrap();
        out.flush().unwrap();
        let left = names(folder.path());
        assert!(
            left.len() == 2 && is_unfinished(OsStr::new(&left[0])),
            "{left:?}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["x"]);
    }

    #[test]
    fn a_dropped_or_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        AtomicFile::create(&path)
            .unwrap()
            .write_all(b"new")
            .unwrap();
        let failed = write(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.unwrap_err().to_string().contains("no more"));
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let listed = unfinished();
        assert!(listed.iter().all(|file| !file.starts_with(folder.path())));
    }

    #[test]
    fn long_names_and_missing_folders() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(255));
        write(&long, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&long).unwrap(), b"new");
        let missing = folder.path().join("missing/x");
        let error = write(&missing, |_| Ok(())).unwrap_err().to_string();
        assert!(
            error.contains("cannot create") && error.contains("missing/x"),
            "{error}"
        );
        let error = AtomicFile::create(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is a directory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_special_files_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("x"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("x", &link).unwrap();
        write(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        write(Path::new("/dev/null"), |out| out.write_all(b"new")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
