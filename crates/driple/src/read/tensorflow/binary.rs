//! Reads GraphDefs in protobuf's binary format.

use prost::bytes::Bytes;
use prost::{DecodeError, Message};

use super::Read;
use super::message::{GraphDef, NodeDef};
use super::node::node;
use crate::graph::Graph;
use crate::read::{Format, NodeFault, ReadError};

/// Reads the graph from the bytes of a GraphDef.
pub(in crate::read) fn graph(bytes: Bytes) -> Result<Graph, ReadError> {
    let graph = GraphDef::decode(bytes).map_err(|error| ReadError::Binary {
        format: Format::GraphDef,
        reason: error.to_string(),
    })?;
    super::graph(&graph.node, |bytes| Ok(read(bytes.clone())), |_| None)
}

/// Reads a node from its bytes.
fn read(bytes: Bytes) -> Read {
    let fields = |error: DecodeError| (String::new(), NodeFault::Fields(error.to_string()));
    node(NodeDef::decode(bytes).map_err(fields)?)
}
