//! Access to regular files in directories that other users may write to.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file with `options`. Symbolic links are not followed, and named pipes and
/// devices do not block.
///
/// # Errors
/// The file cannot be opened, or is not a regular file: [`io::ErrorKind::InvalidInput`].
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
    // Opening some devices has side effects, so the type is checked before opening. It is checked again
    // afterwards, because the file may be replaced in between.
    if !path.symlink_metadata()?.is_file() {
        return Err(refused());
    }
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(refused())
    }
}

/// Reads a regular file that has at most `most` bytes.
///
/// # Errors
/// The file cannot be opened, is not a regular file, cannot be read, or has more than `most` bytes
/// ([`io::ErrorKind::FileTooLarge`]).
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "x").unwrap();
        symlink("file", at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let open = |path: &Path| open_regular(path, OpenOptions::new().read(true));
        assert!(open(&at("file")).is_ok());
        for name in ["link", "device", "pipe", "."] {
            let kind = open(&at(name)).unwrap_err().kind();
            assert_eq!(kind, io::ErrorKind::InvalidInput, "{name}");
        }
        assert_eq!(read_regular(&at("file"), 1).unwrap(), b"x");
        let large = read_regular(&at("file"), 0).unwrap_err().kind();
        assert_eq!(large, io::ErrorKind::FileTooLarge);
        let missing = open(&at("missing")).unwrap_err().kind();
        assert_eq!(missing, io::ErrorKind::NotFound);
    }
}
