//! Reads the raw bytes of an array, which each pickle protocol encodes
//! differently.

use std::borrow::Cow;

use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Graph, Item, Value};

const EXPECTED: &str = "the bytes of an array";
/// Maximum number of nested wrappers. The deepest nesting that occurs in files
/// is `py_buffer(bytearray(encode(text)))`.
const MAX_WRAPPERS: usize = 4;

/// The bytes that `item` represents. The bytes are borrowed from the input if
/// they are stored there without an encoding.
pub(super) fn read<'a>(
    graph: &Graph<'a>,
    mut item: Item<'a>,
) -> Result<Cow<'a, [u8]>, PickleError> {
    for _ in 0..MAX_WRAPPERS {
        match item.value {
            Value::Bytes(bytes) => return Ok(Cow::Borrowed(bytes)),
            // Pickles of Python 2 store bytes as strings. The decoder returns such bytes as text if they are valid
            // text.
            Value::Text(text) => return Ok(Cow::Borrowed(text.as_bytes())),
            _ => {}
        }
        let Some(call) = graph.call(item) else { break };
        let args = graph.child(item, call.args);
        match (call.class, graph.sequence(args)) {
            (Global::Bytes, Some([])) => return Ok(Cow::Borrowed(&[])),
            (Global::Bytes, Some(&[inner])) => item = graph.child(item, inner),
            (Global::Encode | Global::Bytes, Some(&[Value::Text(text), codec])) => {
                return match codec {
                    Value::Text("latin1" | "latin-1") => latin1(graph, text, item.at),
                    _ => Err(graph.unexpected(graph.child(item, codec), "the codec latin1")),
                };
            }
            _ => break,
        }
    }
    Err(graph.unexpected(item, EXPECTED))
}

/// Decodes bytes that are stored as text. Protocol 2 has no byte strings, so
/// each byte is written as the character with that code.
fn latin1<'a>(graph: &Graph<'a>, text: &'a str, at: usize) -> Result<Cow<'a, [u8]>, PickleError> {
    graph.scan(text.len(), at)?;
    if text.is_ascii() {
        return Ok(Cow::Borrowed(text.as_bytes()));
    }
    graph.spend(text.len(), 1, at)?;
    text.chars()
        .map(u8::try_from)
        .collect::<Result<_, _>>()
        .map(Cow::Owned)
        .map_err(|_| Problem::Malformed("a byte is above 255").at(at))
}
