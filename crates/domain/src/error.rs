//! Errors and their exit codes.

use std::fmt;
use std::path::{Path, PathBuf};

use gleaner_observer::Observer;
use gleaner_solvers::SolveError;

use crate::InvalidLog;

/// An error that ends a command. Each kind has an exit code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Wrong usage: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Invalid input data: exit code 3.
    #[error(transparent)]
    Data(#[from] Faults),
    /// A file could not be read or written: exit code 1.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The action that failed, such as `read`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A solver rejected a problem or did not solve it. The exit code is 2 if another solver must be chosen, 3 if the
    /// problem is invalid, and 1 otherwise.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// Any other failure while running: exit code 1.
    #[error("{0}")]
    Run(String),
    /// Interrupted by the user, after the results so far were written: exit code 130.
    #[error("interrupted: the results so far have been written and marked incomplete")]
    Interrupted,
    /// Stopped by the user before there was any result, so no files are kept: exit code 130.
    #[error("interrupted: incomplete files have been removed")]
    Stopped,
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Wraps an I/O error with the action that failed, such as `read`, and the file.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io {
            action,
            path: path.into(),
            source,
        }
    }

    /// The exit code of a process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Solve(error) if error.is_wrong_choice() => 2,
            Error::Data(_) | Error::Solve(SolveError::Invalid(_)) => 3,
            Error::Interrupted | Error::Stopped => 130,
            Error::Io { .. } | Error::Solve(_) | Error::Run(_) => 1,
        }
    }
}

/// Fails if the run has been stopped. Used by functions that have no partial result to return.
///
/// # Errors
/// [`Error::Stopped`] if the observer's stop flag is set.
pub fn check_stop(observer: &dyn Observer) -> Result<()> {
    if observer.is_stopped() {
        Err(Error::Stopped)
    } else {
        Ok(())
    }
}

impl From<InvalidLog> for Error {
    fn from(invalid: InvalidLog) -> Self {
        Error::Run(format!("invalid event log: {invalid}"))
    }
}

/// A fault in an input file: its place, what was found, what was expected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fault {
    /// The file, as named by the user.
    pub file: String,
    /// Place in the file, such as `line 3`, `row 12`, `byte 88`; empty for the file as a whole.
    pub place: String,
    /// The field or column; empty if no field applies.
    pub field: String,
    /// The value or content that was found.
    pub found: String,
    /// The value or content that was expected; empty if `found` includes it.
    pub expected: String,
    /// The remedy; empty if it is obvious.
    pub remedy: String,
}

impl Fault {
    /// A fault in `file` as a whole.
    pub fn of(file: &Path, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Fault {
            file: file.display().to_string(),
            found: found.into(),
            expected: expected.into(),
            ..Fault::default()
        }
    }

    /// A fault in `file`, described by one sentence that states what was found, what was expected and what to do.
    pub fn told(file: &Path, sentence: impl fmt::Display) -> Self {
        Fault::of(file, sentence.to_string(), "")
    }

    /// The same fault, with its place set to `place`, such as `line 3`.
    pub fn at(self, place: impl Into<String>) -> Self {
        Fault {
            place: place.into(),
            ..self
        }
    }

    /// The same fault, with its field set to `field`.
    pub fn field(self, field: impl Into<String>) -> Self {
        Fault {
            field: field.into(),
            ..self
        }
    }

    /// The same fault, with its remedy set to `remedy`.
    pub fn remedy(self, remedy: impl Into<String>) -> Self {
        Fault {
            remedy: remedy.into(),
            ..self
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !self.place.is_empty() {
            write!(f, ", {}", self.place)?;
        }
        if !self.field.is_empty() {
            write!(f, ", {}", self.field)?;
        }
        if self.expected.is_empty() {
            write!(f, ": {}", self.found)?;
        } else {
            write!(f, ": found {}, expected {}", self.found, self.expected)?;
        }
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Error::Data(Faults(vec![fault]))
    }
}

/// Faults in input files, collected before the command stops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults(pub Vec<Fault>);

/// Number of faults in an input at which reading stops. The rest of the input may contain more faults.
pub const MAX_FAULTS: usize = 1_000;

/// Maximum number of faults that a message lists; further faults are only counted.
const SHOWN: usize = 20;

impl Faults {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Returns the values of all `results`, or the faults of all failed results.
    ///
    /// # Errors
    /// [`Error::Data`] with the faults of all failed results, or the first error of another kind.
    pub fn gather<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
        let mut faults = Faults::default();
        let mut values = Vec::new();
        for result in results {
            match result {
                Ok(value) => values.push(value),
                Err(Error::Data(more)) => faults.0.extend(more.0),
                Err(error) => return Err(error),
            }
        }
        faults.into_result(values)
    }

    /// Returns `Ok(value)` if there are no faults, and the faults otherwise.
    ///
    /// # Errors
    /// [`Error::Data`] if there are faults.
    pub fn into_result<T>(self, value: T) -> Result<T> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(Error::Data(self))
        }
    }
}

impl std::error::Error for Faults {}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(f, "{one}"),
            many => {
                let least = if many.len() < MAX_FAULTS {
                    ""
                } else {
                    "at least "
                };
                write!(f, "{least}{} faults in the input:", many.len())?;
                for fault in many.iter().take(SHOWN) {
                    write!(f, "\n  {fault}")?;
                }
                if many.len() > SHOWN {
                    write!(f, "\n  and {} more", many.len() - SHOWN)?;
                }
                Ok(())
            }
        }
    }
}
