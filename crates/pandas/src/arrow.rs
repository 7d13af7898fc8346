//! Reads strings in Apache Arrow's layout: one buffer for all strings, and the offset at which each
//! string starts. Pandas 3 uses this layout if pyarrow is installed.

use std::borrow::Cow;

use super::array::Array;
use super::blocks::BlockData;
use super::buffer;
use super::cell::Cell;
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Call, Graph, Item, Value};

const EXPECTED: &str = "an Arrow array of strings";

/// The parts of a recorded Arrow array.
struct Parts<'a> {
    /// Number of values.
    len: usize,
    /// Position of the first value in the buffers.
    first: usize,
    /// Number of bytes of an offset.
    width: usize,
    /// One bit for each value, set if the value is present. If there is no such buffer, all values are present.
    validity: Option<Cow<'a, [u8]>>,
    offsets: Cow<'a, [u8]>,
    text: Cow<'a, [u8]>,
}

/// Reads the array that `call`, a call of `ArrowStringArray`, would create.
pub(super) fn read<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Array<'a>, PickleError> {
    let array = graph.required(graph.state(item, call), "_pa_array", EXPECTED)?;
    let parts = parts(graph, array)?;
    graph.spend(parts.len, size_of::<Cell<'_>>(), array.at)?;
    graph.scan(parts.text.len(), array.at)?;
    let damaged =
        || Problem::Malformed("the offsets of an Arrow array exceed its buffers").at(array.at);
    if parts.len > 0 && parts.offset(parts.len).is_none() {
        return Err(damaged());
    }
    let mut cells = Vec::with_capacity(parts.len);
    for index in 0..parts.len {
        let bytes = parts.value(index).ok_or_else(damaged)?;
        cells.push(match bytes {
            Some(bytes) => cell(graph, bytes, &parts.text, array.at)?,
            None => Cell::Missing,
        });
    }
    Ok(Array {
        columns: 1,
        rows: parts.len,
        data: BlockData::Cells(cells),
    })
}

/// The cell with the string in a range of the text buffer.
fn cell<'a>(
    graph: &Graph<'a>,
    range: std::ops::Range<usize>,
    buffer: &Cow<'a, [u8]>,
    at: usize,
) -> Result<Cell<'a>, PickleError> {
    let invalid = |_| Problem::Utf8.at(at);
    Ok(Cell::Text(match buffer {
        Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(&bytes[range]).map_err(invalid)?),
        Cow::Owned(bytes) => {
            graph.spend(range.len(), 1, at)?;
            let text = std::str::from_utf8(&bytes[range]).map_err(invalid)?;
            Cow::Owned(text.to_owned())
        }
    }))
}

impl Parts<'_> {
    /// The range in the text buffer that contains the value at `index`; `Some(None)` for a missing
    /// value, `None` if the buffers are too short.
    fn value(&self, index: usize) -> Option<Option<std::ops::Range<usize>>> {
        if let Some(validity) = &self.validity {
            let bit = self.first.checked_add(index)?;
            if validity.get(bit / 8)? >> (bit % 8) & 1 == 0 {
                return Some(None);
            }
        }
        let range = self.offset(index)?..self.offset(index + 1)?;
        (range.start <= range.end && range.end <= self.text.len()).then_some(Some(range))
    }

    /// The offset at `index`, where index 0 is the offset of the first value.
    fn offset(&self, index: usize) -> Option<usize> {
        let start = self.first.checked_add(index)?.checked_mul(self.width)?;
        let bytes = self.offsets.get(start..start.checked_add(self.width)?)?;
        let mut wide = [0; 8];
        wide[..self.width].copy_from_slice(bytes);
        usize::try_from(u64::from_le_bytes(wide)).ok()
    }
}

/// Reads `_restore_array((type, len, nulls, first, buffers, children,
/// dictionary))`.
fn parts<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Parts<'a>, PickleError> {
    let unexpected = || graph.unexpected(item, EXPECTED);
    let call = graph
        .call(item)
        .filter(|call| call.class == Global::ArrowArray)
        .ok_or_else(unexpected)?;
    let [description] = graph.fields(graph.child(item, call.args), EXPECTED)?;
    let [kind, len, _, first, buffers, _, _] = graph.fields(description, EXPECTED)?;
    let [validity, offsets, text] = graph.fields(buffers, EXPECTED)?;
    let optional = |item: Item<'a>| match item.value {
        Value::None => Ok(None),
        _ => buffer::read(graph, item).map(Some),
    };
    Ok(Parts {
        len: len.value.as_usize().ok_or_else(unexpected)?,
        first: first.value.as_usize().ok_or_else(unexpected)?,
        width: offset_width(graph, kind)?,
        validity: optional(validity)?,
        offsets: optional(offsets)?.unwrap_or_default(),
        text: optional(text)?.unwrap_or_default(),
    })
}

/// Number of bytes of an offset in an array of the type `type_for_alias(name)`.
fn offset_width<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<usize, PickleError> {
    let call = graph.call(item);
    let name = call
        .filter(|call| call.class == Global::ArrowType)
        .and_then(|call| graph.sequence(graph.child(item, call.args)))
        .and_then(|args| args.first().copied())
        .and_then(Value::as_text);
    match name {
        Some("string") => Ok(4),
        Some("large_string") => Ok(8),
        _ => Err(graph.unexpected(item, "the Arrow type string or large_string")),
    }
}
