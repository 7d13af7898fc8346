//! The content of model files.

use serde::{Deserialize, Serialize};

use super::{Kind, Span};

/// The name of the format, which every model file contains.
pub const FORMAT: &str = "gleaner-model";

/// Version of the format. Files of other versions are rejected.
pub const VERSION: u32 = 2;

/// The first fields of a model file. They determine how the other fields are read.
#[derive(Debug, Deserialize)]
pub struct Head {
    /// Name of the format: [`FORMAT`].
    pub format: String,
    /// Version of the format: [`VERSION`].
    pub version: u32,
    /// Kind of the model.
    pub kind: Kind,
}

/// The complete content of the file of a model of type `M`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored<M> {
    /// Name of the format: [`FORMAT`].
    pub format: String,
    /// Version of the format: [`VERSION`].
    pub version: u32,
    /// Kind of the model.
    pub kind: Kind,
    /// Version of the program that trained the model.
    pub program: String,
    /// Features of the model, in order.
    pub features: Vec<String>,
    /// The rows that the model was trained on.
    pub trained: Span,
    /// The files that the model was trained on.
    pub inputs: Vec<Input>,
    /// The model.
    pub model: M,
}

/// A file that a model was trained on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Path of the file, as the user gave it.
    pub path: String,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}
