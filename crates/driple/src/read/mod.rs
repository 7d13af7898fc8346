//! Reads computational graphs from the bytes of files: TensorFlow GraphDefs and ONNX models.

mod error;
pub(crate) mod onnx;
mod tensorflow;

use std::path::Path;

use prost::bytes::Bytes;

pub use error::{NodeFault, Place, ReadError, TextFault};

use crate::graph::Graph;

/// The format of a file with a computational graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A TensorFlow GraphDef in protobuf's text format, `.pbtxt`.
    GraphDefText,
    /// A TensorFlow GraphDef in protobuf's binary format, `.pb`.
    GraphDef,
    /// An ONNX model in protobuf's binary format, `.onnx`.
    Onnx,
}

impl Format {
    /// The file name extensions that [`Format::of_path`] recognises. Messages list them.
    pub const EXTENSIONS: [&str; 3] = ["pbtxt", "pb", "onnx"];

    /// The format of a file, determined by its file name extension, ignoring case. `None` if the
    /// extension is unknown.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "pbtxt" => Some(Self::GraphDefText),
            "pb" => Some(Self::GraphDef),
            "onnx" => Some(Self::Onnx),
            _ => None,
        }
    }
}

/// Reads a computational graph from the bytes of a file. The nodes are in the file's order.
///
/// The weights and inputs of an ONNX model come first, as the `Const` and `Placeholder` nodes that
/// TensorFlow uses. All nodes of an ONNX model are on the device `GPU`, and shapes that are missing
/// from its file are inferred. Functions that a GraphDef defines are not part of its graph.
///
/// # Errors
/// The bytes are not in this format, or the graph has no nodes. Two nodes have the same name. A
/// node has no name or no type, or one of its inputs is unknown. If several nodes are faulty, the
/// error names the first of them in the file.
pub fn graph(bytes: impl Into<Bytes>, format: Format) -> Result<Graph, ReadError> {
    let bytes = bytes.into();
    let graph = match format {
        Format::GraphDefText => tensorflow::text::graph(&bytes),
        Format::GraphDef => tensorflow::binary::graph(bytes),
        Format::Onnx => onnx::graph(bytes),
    }?;
    if graph.nodes.is_empty() {
        return Err(ReadError::NoNodes(format));
    }
    Ok(graph)
}
