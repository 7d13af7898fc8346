//! Reads GraphDefs in protobuf's text format.
//!
//! A scanner first divides the file into nodes, which are then parsed one by one. Errors can
//! therefore name the faulty node, and only a few parsed nodes are in memory at the same time. The
//! parser recurses into nested messages, but never deeper than [`super::scan::DEPTH`].

use super::Read;
use super::fields::{self, ParseError};
use super::node::node;
use super::scan::{Fault, Scanner};
use crate::graph::Graph;
use crate::read::{NodeFault, ReadError, TextFault};

/// Reads the graph from the text of a GraphDef.
pub(in crate::read) fn graph(text: &[u8]) -> Result<Graph, ReadError> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let line = |at| line(text, at);
    let fault = |(at, fault)| ReadError::Text {
        line: line(at),
        fault,
    };
    let blocks = nodes(text).map_err(fault)?;
    let read = |block: &Scanner<'_>| read(block.clone()).map_err(fault);
    super::graph(&blocks, read, |block| Some(line(block.at())))
}

/// The line number of a byte, from 1.
fn line(text: &[u8], at: usize) -> usize {
    1 + text[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// A scanner for the fields of each node of the graph.
fn nodes(text: &[u8]) -> Result<Vec<Scanner<'_>>, Fault> {
    let mut text = Scanner::new(text);
    let mut nodes = Vec::new();
    while text.peek().is_some() {
        let at = text.at();
        let name = text.name()?;
        text.colon()?;
        if name != b"node" {
            text.value()?;
        } else if let Some(more) = text.messages()? {
            nodes.extend(more);
        } else {
            return Err((at, TextFault::Node));
        }
        text.separator();
    }
    Ok(nodes)
}

/// Reads a node from its text. Returns an error if the text is malformed. If the text is
/// well-formed but the node is faulty, returns the node's name and the fault.
fn read(block: Scanner<'_>) -> Result<Read, Fault> {
    match fields::message(block.clone()) {
        Ok(def) => Ok(node(def)),
        Err(ParseError::Text(fault)) => Err(fault),
        Err(ParseError::Field(reason)) => {
            let reason = format!("one of its fields is invalid: {reason}");
            Ok(Err((name(block), NodeFault::Fields(reason))))
        }
    }
}

/// The name of a node whose fields cannot be parsed, as written in the text. Empty if the node has
/// no name.
fn name(mut block: Scanner<'_>) -> String {
    let mut find = || -> Result<Option<&[u8]>, Fault> {
        while block.peek().is_some() {
            let name = block.name()?;
            block.colon()?;
            block.peek();
            let from = block.at();
            block.value()?;
            if name == b"name" {
                return Ok(Some(block.text(from, block.at())));
            }
            block.separator();
        }
        Ok(None)
    };
    let text = find().ok().flatten().unwrap_or_default();
    String::from_utf8_lossy(text)
        .trim()
        .trim_matches(['"', '\''])
        .to_owned()
}
