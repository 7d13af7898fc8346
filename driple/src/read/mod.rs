//! Computational graphs from the bytes of files: GraphDefs of TensorFlow, models of ONNX.

mod error;
pub(crate) mod onnx;
mod tensorflow;

use std::path::Path;

use prost::bytes::Bytes;

pub use error::{NodeFault, Place, ReadError, TextFault};

use crate::graph::Graph;

/// What a file of a computational graph holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A GraphDef of TensorFlow in protobuf's text format, `.pbtxt`.
    GraphDefText,
    /// A GraphDef of TensorFlow in protobuf's binary format, `.pb`.
    GraphDef,
    /// A model of ONNX in protobuf's binary format, `.onnx`.
    Onnx,
}

impl Format {
    /// The file name extensions that [`Format::of_path`] knows, for messages.
    pub const EXTENSIONS: [&str; 3] = ["pbtxt", "pb", "onnx"];

    /// The format that a file name stands for by its extension, whatever its case.
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

/// The computational graph in the bytes of a file, its nodes in the file's order.
///
/// An ONNX model's weights and inputs come first, as `Const` and `Placeholder` nodes, as TensorFlow
/// has them; all its nodes are on device `GPU`, and the shapes that the file lacks are inferred.
/// Functions that a GraphDef defines are not part of its graph.
///
/// # Errors
/// Where the bytes are not of the format, or the graph has no nodes, two of one name, or one whose
/// type or inputs are not known. The first such node in the file is named.
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
