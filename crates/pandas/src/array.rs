//! Finds the arrays inside blocks and indexes, looking through the wrappers
//! that pandas puts around them.

use super::arrow;
use super::blocks::BlockData;
use super::error::PickleError;
use super::globals::Global;
use super::graph::{Call, Graph, Item};
use super::ndarray;

const EXPECTED: &str = "an array of values";
/// Maximum number of nested wrappers. The deepest nesting that pandas writes is an index around a
/// `DatetimeArray` around a numpy array.
const MAX_WRAPPERS: usize = 4;

/// A two-dimensional array. A one-dimensional array is represented as a single column.
pub(super) struct Array<'a> {
    pub columns: usize,
    pub rows: usize,
    pub data: BlockData<'a>,
}

/// Reads the array in `item`, which is an array or a wrapper around an array.
pub(super) fn read<'a>(graph: &Graph<'a>, mut item: Item<'a>) -> Result<Array<'a>, PickleError> {
    for _ in 0..MAX_WRAPPERS {
        let call = graph
            .call(item)
            .ok_or_else(|| graph.unexpected(item, EXPECTED))?;
        item = match call.class {
            Global::Reconstruct | Global::FromBuffer => return ndarray::read(graph, item, call),
            Global::ArrowStrings => return arrow::read(graph, item, call),
            Global::ArrayClass => attribute(graph, item, call)?,
            Global::WrapArray => wrapped(graph, item, call)?,
            Global::NewIndex => {
                let [_, state] = graph.fields(graph.child(item, call.args), EXPECTED)?;
                graph.required(state, "data", EXPECTED)?
            }
            _ => break,
        };
    }
    Err(graph.unexpected(item, EXPECTED))
}

/// The array in an object whose state is a dictionary of its attributes.
fn attribute<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Item<'a>, PickleError> {
    let state = graph.state(item, call);
    match graph.entry(state, "_data", EXPECTED)? {
        Some(data) => Ok(data),
        None => graph.required(state, "_ndarray", EXPECTED),
    }
}

/// The array in a state `(dtype, array, attributes)`. The order of the first
/// two members depends on the pandas release.
fn wrapped<'a>(graph: &Graph<'a>, item: Item<'a>, call: Call<'a>) -> Result<Item<'a>, PickleError> {
    let unexpected = || graph.unexpected(item, EXPECTED);
    let state = match call.state {
        Some(state) => graph.child(item, state),
        // If there is no separate state, the third argument is the state.
        None => graph.fields::<3>(graph.child(item, call.args), EXPECTED)?[2],
    };
    let members = graph.sequence(state).ok_or_else(unexpected)?;
    members
        .iter()
        .take(2)
        .map(|&member| graph.child(state, member))
        .find(|&member| {
            let class = graph.call(member).map(|call| call.class);
            matches!(class, Some(Global::Reconstruct | Global::FromBuffer))
        })
        .ok_or_else(unexpected)
}
