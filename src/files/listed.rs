//! A file as `run.json` lists it.

use serde::{Deserialize, Serialize};

/// A file that a run read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Of an input the path as the user named it; of a result relative to the directory.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}
