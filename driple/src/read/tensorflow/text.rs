//! GraphDefs in protobuf's text format.
//!
//! A scanner cuts the file into its nodes, so that an error names the node, nothing but one node at
//! a time is held in parsed form, and the parser, which calls itself for messages in messages,
//! never sees more than [`super::scan::DEPTH`] of these.

use prost_reflect::DynamicMessage;

use super::message::NodeDef;
use super::node::node;
use super::scan::{Fault, Scanner};
use super::schema::NODE_DEF;
use super::{Read, keep};
use crate::graph::Graph;
use crate::read::{NodeFault, ReadError, TextFault};

/// The graph in the text of a GraphDef.
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

/// The line of a byte, from 1.
fn line(text: &[u8], at: usize) -> usize {
    1 + text[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// The insides of the graph's nodes.
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

/// A node from its text: a fault of the text, or one of the node with its name.
fn read(block: Scanner<'_>) -> Result<Read, Fault> {
    let mut kept = Vec::new();
    keep::fields(block.clone(), &NODE_DEF, &mut kept)?;
    Ok(match parse(&kept) {
        Ok(def) => node(def),
        Err(reason) => Err((name(block), NodeFault::Fields(reason))),
    })
}

/// A node from its text, by the library.
fn parse(text: &[u8]) -> Result<NodeDef, String> {
    let text = std::str::from_utf8(text).map_err(|_| "its text is not UTF-8".to_owned())?;
    let message = DynamicMessage::parse_text_format(NODE_DEF.clone(), text);
    let message =
        message.map_err(|error| format!("one of its fields is not as expected: {error}"))?;
    message.transcode_to().map_err(|error| error.to_string())
}

/// The name of a node whose fields cannot be parsed, as the text has it; nothing where it has none.
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
