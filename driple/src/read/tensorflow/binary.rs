//! GraphDefs in protobuf's binary format.

use prost::Message;
use prost::bytes::Bytes;
use rayon::prelude::*;

use super::message::{GraphDef, NodeDef};
use super::node::node;
use crate::graph::Graph;
use crate::read::{Format, NodeFault, ReadError};

/// The graph in the bytes of a GraphDef.
pub(in crate::read) fn graph(bytes: Bytes) -> Result<Graph, ReadError> {
    let graph = GraphDef::decode(bytes).map_err(|error| ReadError::Binary {
        format: Format::GraphDef,
        reason: error.to_string(),
    })?;
    let nodes = (graph.node.into_par_iter())
        .map(|bytes| {
            let fields = |error: prost::DecodeError| NodeFault::Fields(error.to_string());
            let def = NodeDef::decode(bytes).map_err(|error| (String::new(), fields(error)))?;
            node(def)
        })
        .collect();
    super::graph(nodes, |_| None)
}
