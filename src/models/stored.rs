//! What a file of a model holds.

use serde::{Deserialize, Serialize};

use super::{Kind, Span};

/// What every such file says it is.
pub const FORMAT: &str = "gleaner-model";

/// Version of the format: files of others are refused.
pub const VERSION: u32 = 2;

/// The beginning of a file, which tells how to read the rest.
#[derive(Debug, Deserialize)]
pub struct Head {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Which model.
    pub kind: Kind,
}

/// A whole file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored<M> {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Which model.
    pub kind: Kind,
    /// Version of the program that trained it.
    pub program: String,
    /// Its features, in order.
    pub features: Vec<String>,
    /// The rows it was trained on.
    pub trained: Span,
    /// The files it was trained on.
    pub inputs: Vec<Input>,
    /// The model.
    pub model: M,
}

/// A file that a model was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// As it was named.
    pub path: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}
