//! The state directory, which the daemon, its pilots and the command line share.
//!
//! | entry | content |
//! |---|---|
//! | `secret` | secret shared with pilots and clients; only the owner can read it |
//! | `cert.pem`, `key.pem` | the daemon's certificate and its private key |
//! | `address` | host and port at which the daemon listens |
//! | `class.json` | the program that prints the class of a pilot's node, with its arguments |
//! | `journal.redb` | the daemon's journal |
//! | `tasks/NAME/` | files of a task, such as its checkpoints |
//! | `logs/` | output of pilots and tasks |
//! | `pilots/` | an empty file for each pilot that has started |
//! | `lock` | a file that the daemon locks while it runs |

use std::fmt;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gleaner_domain::Digest;
use gleaner_domain::error::{Error, Fault, Result};

use crate::tls::SERVER_NAME;

/// Maximum number of bytes that are read from a file, such as the secret, the address or a PEM file.
const MOST_BYTES: u64 = 64 << 10;

/// Number of random bytes in the secret.
const SECRET_BYTES: usize = 32;

/// Maximum length of a task's name, in bytes.
const LONGEST_NAME: usize = 100;

/// The state directory.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    /// The locked file; `None` if a pilot or the command line opened the directory.
    _lock: Option<File>,
}

impl StateDir {
    /// Opens the directory for the daemon, and creates missing files. No other daemon can open the directory until
    /// the returned value is dropped.
    ///
    /// # Errors
    /// [`Error::Run`] if another daemon uses the directory. [`Error::Data`] if the directory or the secret belongs to
    /// another user or is accessible to others. [`Error::Io`] if a file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let path = absolute(path)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| Error::io("create", parent, error))?;
        }
        create_dir(&path)?;
        check_dir(&path)?;
        let lock = lock(&path.join("lock"))?;
        let state = StateDir {
            path,
            _lock: Some(lock),
        };
        create_dir(&state.path.join("tasks"))?;
        create_dir(&state.path.join("logs"))?;
        state.create_secret()?;
        state.create_certificate()?;
        Ok(state)
    }

    /// Opens the directory of a daemon, for a pilot or the command line.
    ///
    /// # Errors
    /// The directory is missing, belongs to another user, or is accessible to others.
    pub fn open(path: &Path) -> Result<Self> {
        let path = absolute(path)?;
        check_dir(&path)?;
        Ok(StateDir { path, _lock: None })
    }

    /// Absolute path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the daemon's journal.
    pub fn journal_path(&self) -> PathBuf {
        self.path.join("journal.redb")
    }

    /// Path of the daemon's certificate.
    pub fn certificate_path(&self) -> PathBuf {
        self.path.join("cert.pem")
    }

    /// Path of the certificate's private key.
    pub fn key_path(&self) -> PathBuf {
        self.path.join("key.pem")
    }

    /// Path of the log file `name`.
    pub fn log_path(&self, name: &str) -> PathBuf {
        self.path.join("logs").join(name)
    }

    /// Reads the secret.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, belongs to another user, or is accessible to others.
    pub fn secret(&self) -> Result<Secret> {
        let path = self.secret_path();
        let bytes = self.read_private(&path)?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.len() != 2 * SECRET_BYTES {
            let found = format!("{} characters", text.len());
            let expected = format!("{} hexadecimal digits", 2 * SECRET_BYTES);
            let remedy =
                "delete the file while no daemon is running; the next daemon creates a new secret";
            return Err(Fault::of(&path, found, expected).remedy(remedy).into());
        }
        Ok(Secret(text))
    }

    /// Host and port at which the daemon listens.
    ///
    /// # Errors
    /// No daemon has written its address, or the file cannot be read or is damaged.
    pub fn address(&self) -> Result<String> {
        let path = self.address_path();
        let bytes = read_limited(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Run(format!(
                "no daemon has used {}: start one with gleaner harvest serve",
                self.path.display()
            )),
            _ => Error::io("read", &path, error),
        })?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        let is_address = text.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
        });
        if !is_address {
            let found = format!("{text:?}");
            let fault = Fault::of(&path, found, "an address such as login1:7117");
            return Err(fault.remedy("restart the daemon").into());
        }
        Ok(text)
    }

    /// Replaces the address atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_address(&self, address: &str) -> Result<()> {
        write_private(&self.address_path(), format!("{address}\n").as_bytes())
    }

    /// Creates the directory of a task if it is missing, and returns its path.
    ///
    /// # Errors
    /// [`Error::Run`] if the name is not a valid directory name. [`Error::Io`] if the directory cannot be created.
    pub fn task_dir(&self, name: &str) -> Result<PathBuf> {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let is_name = (1..=LONGEST_NAME).contains(&name.len())
            && !name.starts_with(['.', '-'])
            && name.chars().all(is_safe);
        if !is_name {
            let name: String = name.chars().take(LONGEST_NAME).collect();
            return Err(Error::Run(format!(
                "invalid task name {name:?}: use 1 to {LONGEST_NAME} letters, digits, dots, underscores and hyphens, \
                 and begin with a letter, digit or underscore"
            )));
        }
        let path = self.path.join("tasks").join(name);
        create_dir(&path)?;
        Ok(path)
    }

    /// Returns the path of the directory of a trial that trains the task `task`, and creates the directory if it is
    /// missing. The trial's directory is inside the task's directory.
    ///
    /// # Errors
    /// Same as [`StateDir::task_dir`].
    pub fn trial_dir(&self, task: &str, trial: u32) -> Result<PathBuf> {
        let path = self.task_dir(task)?.join(trial.to_string());
        create_dir(&path)?;
        Ok(path)
    }

    /// Records that a pilot has started, so that it cannot start twice. After a crash, a batch scheduler can start the
    /// same job a second time while the first pilot is still running on another node.
    ///
    /// # Errors
    /// [`Error::Run`] if the pilot has already started. [`Error::Io`] if the record cannot be written.
    pub fn begin_pilot(&self, pilot: u64) -> Result<()> {
        let folder = self.pilots_path();
        create_dir(&folder)?;
        let path = folder.join(pilot.to_string());
        let mut options = OpenOptions::new();
        let created = options.create_new(true).write(true).mode(0o600).open(&path);
        created.map(drop).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Run(format!(
                "pilot {pilot} was started before: the batch scheduler has restarted the pilot's job"
            )),
            _ => Error::io("create", &path, error),
        })
    }

    /// Removes the records of all pilots. A new journal numbers its pilots from 1 again.
    ///
    /// # Errors
    /// The records cannot be removed.
    pub fn forget_pilots(&self) -> Result<()> {
        let folder = self.pilots_path();
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("remove", &folder, error))
            }
            _ => Ok(()),
        }
    }

    fn pilots_path(&self) -> PathBuf {
        self.path.join("pilots")
    }

    /// Eight hexadecimal digits that identify this directory in the names of jobs. They are not secret.
    ///
    /// # Errors
    /// The certificate cannot be read.
    pub fn token(&self) -> Result<String> {
        let path = self.certificate_path();
        let certificate = read_limited(&path).map_err(|error| Error::io("read", &path, error))?;
        let digest = Digest::of(&certificate).to_string();
        Ok(digest.chars().take(8).collect())
    }

    /// Reads a file that only its owner may read.
    ///
    /// # Errors
    /// The file cannot be read, belongs to another user, or is accessible to others.
    pub fn read_private(&self, path: &Path) -> Result<Vec<u8>> {
        let failed = |error| Error::io("read", path, error);
        let file = File::open(path).map_err(failed)?;
        check_private(path, &file.metadata().map_err(failed)?)?;
        let mut bytes = Vec::new();
        let read = file.take(MOST_BYTES).read_to_end(&mut bytes);
        read.map_err(failed)?;
        Ok(bytes)
    }

    /// Writes a file that only its owner can read. An existing file is replaced atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_private(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        write_private(path, bytes)
    }

    /// Writes `words`: the program that prints the class of a pilot's node, and its arguments. `words` is empty if
    /// there is no such program.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_class_program(&self, words: &[String]) -> Result<()> {
        let json = serde_json::to_vec(words);
        let json = json.map_err(|error| Error::Run(format!("class.json: {error}")))?;
        write_private(&self.class_path(), &json)
    }

    /// Reads the program that prints the class of a pilot's node, and its arguments. The list is empty if there is no
    /// such program.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, belongs to another user, or is accessible to others.
    pub fn class_program(&self) -> Result<Vec<String>> {
        let path = self.class_path();
        if !path.exists() {
            return Ok(Vec::new());
        }
        let bytes = self.read_private(&path)?;
        serde_json::from_slice(&bytes).map_err(|error| {
            let fault = Fault::of(&path, error.to_string(), "a program with its arguments");
            fault.remedy("restart the daemon").into()
        })
    }

    fn class_path(&self) -> PathBuf {
        self.path.join("class.json")
    }

    fn secret_path(&self) -> PathBuf {
        self.path.join("secret")
    }

    fn address_path(&self) -> PathBuf {
        self.path.join("address")
    }

    fn create_secret(&self) -> Result<()> {
        let path = self.secret_path();
        if path.exists() {
            return self.secret().map(drop);
        }
        let mut bytes = [0; SECRET_BYTES];
        let random = Path::new("/dev/urandom");
        let read = File::open(random).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|error| Error::io("read", random, error))?;
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        write_private(&path, text.as_bytes())
    }

    /// Creates the certificate and its key. The key is written first, so a certificate always has a key.
    fn create_certificate(&self) -> Result<()> {
        if self.certificate_path().exists() {
            return self.read_private(&self.key_path()).map(drop);
        }
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]);
        let made = made.map_err(|error| Error::Run(format!("cannot create cert.pem: {error}")))?;
        write_private(
            &self.key_path(),
            made.signing_key.serialize_pem().as_bytes(),
        )?;
        write_private(&self.certificate_path(), made.cert.pem().as_bytes())
    }
}

/// The secret that pilots and clients share with the daemon.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The secret as it is sent to the daemon.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether `given` is the secret. The comparison takes the same time wherever the first difference is, so the
    /// secret cannot be guessed byte by byte.
    pub fn matches(&self, given: &str) -> bool {
        let (own, given) = (self.0.as_bytes(), given.as_bytes());
        let pairs = own.iter().zip(given);
        let difference = pairs.fold(0, |all, (a, b)| black_box(all | (a ^ b)));
        // The length of the secret is public, so comparing lengths reveals nothing.
        own.len() == given.len() && black_box(difference) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Makes a path absolute without resolving symbolic links, because their targets may differ between hosts.
fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|error| Error::io("find", path, error))
}

/// Creates a directory that only its owner can enter, unless it already exists.
fn create_dir(path: &Path) -> Result<()> {
    let created = DirBuilder::new().mode(0o700).create(path);
    match created {
        Err(error) if !path.is_dir() => Err(Error::io("create", path, error)),
        _ => Ok(()),
    }
}

fn check_dir(path: &Path) -> Result<()> {
    let found = fs::metadata(path).map_err(|error| Error::io("open", path, error))?;
    if !found.is_dir() {
        return Err(Fault::of(path, "a file", "the state directory of a daemon").into());
    }
    check_private(path, &found)
}

/// Checks that a file or directory belongs to this user, and that no other user has access to it.
fn check_private(path: &Path, found: &Metadata) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    if found.uid() != user {
        let (owner, expected) = (found.uid(), format!("this user's id, {user}"));
        let fault = Fault::of(path, format!("the owner's id {owner}"), expected);
        return Err(fault
            .remedy("run as the owner, or name another state directory")
            .into());
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        let private = if found.is_dir() { 0o700 } else { 0o600 };
        let expected = format!("{private:o}: only the owner may have access");
        let fault = Fault::of(path, format!("mode {mode:o}"), expected);
        let remedy = format!("run chmod {private:o} {}", path.display());
        return Err(fault.remedy(remedy).into());
    }
    Ok(())
}

/// Opens and locks the file at `path`, which is created if it is missing.
fn lock(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    let file = options
        .open(path)
        .map_err(|error| Error::io("create", path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Run(format!(
            "another daemon uses {}: stop it with gleaner harvest stop, or name another directory with --state",
            path.parent().unwrap_or(path).display()
        ))),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path, error)),
    }
}

fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file that only its owner can read. An existing file is replaced atomically.
fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = path.with_extension("part");
    let write = || {
        // A daemon that was killed may have left a temporary file behind.
        let _ = fs::remove_file(&temporary);
        let mut options = OpenOptions::new();
        let mut file = options
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|error| Error::io("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_directory_is_private_and_keeps_its_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/state");
        let state = StateDir::create(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        for file in ["secret", "key.pem", "cert.pem"] {
            assert_eq!(mode(&path.join(file)), 0o600, "{file}");
        }
        let (secret, token) = (state.secret().unwrap(), state.token().unwrap());
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(token.len(), 8);
        drop(state);
        let again = StateDir::create(&path).unwrap();
        assert!(again.secret().unwrap().matches(secret.text()));
        assert_eq!(again.token().unwrap(), token);
        let other = StateDir::create(&folder.path().join("b")).unwrap();
        assert!(!other.secret().unwrap().matches(secret.text()));
        assert_ne!(other.token().unwrap(), token);
    }

    #[test]
    fn secrets_are_compared_as_a_whole() {
        let secret = Secret("abcd".to_owned());
        assert!(secret.matches("abcd"));
        for other in ["", "abc", "abcde", "abce", "bbcd"] {
            assert!(!secret.matches(other), "{other}");
        }
    }

    #[test]
    fn files_that_others_may_read_are_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let state = StateDir::create(&path).unwrap();
        let secret = path.join("secret");
        for open in [0o640, 0o604, 0o620] {
            chmod(&secret, open);
            let error = state.secret().unwrap_err();
            assert_eq!(error.exit_code(), 3);
            let expected = format!("chmod 600 {}", secret.display());
            assert!(error.to_string().contains(&expected), "{error}");
        }
        chmod(&secret, 0o600);
        chmod(&path, 0o755);
        let error = StateDir::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("found mode 755") && error.contains("chmod 700"),
            "{error}"
        );
        drop(state);
        assert!(StateDir::create(&path).is_err());
        chmod(&path, 0o700);
        fs::write(&secret, "short").unwrap();
        let error = StateDir::create(&path).unwrap_err().to_string();
        assert!(error.contains("found 5 characters"), "{error}");
    }

    #[test]
    fn a_second_daemon_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let state = StateDir::create(&path).unwrap();
        let error = StateDir::create(&path).unwrap_err().to_string();
        assert!(error.contains("another daemon uses"), "{error}");
        StateDir::open(&path).unwrap();
        drop(state);
        StateDir::create(&path).unwrap();
    }

    #[test]
    fn a_certificate_without_its_key_or_a_key_alone_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(folder.path()).unwrap_or_else(|_| {
            chmod(folder.path(), 0o700);
            StateDir::create(folder.path()).unwrap()
        });
        let token = state.token().unwrap();
        // A daemon that is killed between writing the two files leaves a key without a certificate.
        fs::remove_file(state.certificate_path()).unwrap();
        state.create_certificate().unwrap();
        assert_ne!(state.token().unwrap(), token);
        fs::remove_file(state.key_path()).unwrap();
        let error = state.create_certificate().unwrap_err().to_string();
        assert!(error.contains("key.pem"), "{error}");
    }

    #[test]
    fn a_pilot_is_started_once() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        state.begin_pilot(1).unwrap();
        state.begin_pilot(2).unwrap();
        let again = state.begin_pilot(1).unwrap_err().to_string();
        assert!(again.contains("pilot 1 was started before"), "{again}");
        state.forget_pilots().unwrap();
        state.forget_pilots().unwrap();
        state.begin_pilot(1).unwrap();
    }

    #[test]
    fn the_address_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        let missing = state.address().unwrap_err().to_string();
        assert!(missing.contains("gleaner harvest serve"), "{missing}");
        for address in ["login1:7117", "[::1]:80", "127.0.0.1:1"] {
            state.write_address(address).unwrap();
            assert_eq!(state.address().unwrap(), address);
        }
        for wrong in ["", "login1", ":80", "a:0", "a:70000", "a:b"] {
            state.write_address(wrong).unwrap();
            assert_eq!(state.address().unwrap_err().exit_code(), 3, "{wrong}");
        }
    }

    #[test]
    fn names_of_tasks_cannot_leave_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir::create(&folder.path().join("state")).unwrap();
        let made = state.task_dir("resnet-50_v1.5").unwrap();
        assert!(made.is_dir() && made.starts_with(state.path()));
        assert_eq!(state.task_dir("resnet-50_v1.5").unwrap(), made);
        let long = "x".repeat(101);
        for wrong in [
            "", "..", ".", "a/b", "/etc", "a b", "-x", "$(id)", "a\n", &long,
        ] {
            assert!(state.task_dir(wrong).is_err(), "{wrong:?}");
        }
    }
}
