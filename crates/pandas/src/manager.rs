//! Reads the manager of a frame, which holds the frame's axes and blocks, and
//! the positions of the blocks' columns.

use super::array;
use super::blocks::BlockData;
use super::cell::Cell;
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Graph, Item, Value};

const EXPECTED: &str = "the blocks and axes of a table";
/// The key under which a manager's state stores the current layout, which pandas has used since version 0.14.
const LAYOUT: &str = "0.14.1";

/// The axes of a frame (columns, then rows) or of a series, and the blocks.
pub(super) struct Manager<'a> {
    pub axes: Item<'a>,
    pub blocks: Vec<RawBlock<'a>>,
}

/// The values of a block and the positions of its columns, neither of which has
/// been read yet.
pub(super) struct RawBlock<'a> {
    pub values: Item<'a>,
    pub placement: Item<'a>,
}

/// Reads a manager in either of its two layouts.
pub(super) fn read<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Manager<'a>, PickleError> {
    let call = graph
        .call(item)
        .filter(|call| call.class == Global::Manager)
        .ok_or_else(|| graph.unexpected(item, EXPECTED))?;
    match call.state {
        Some(state) => from_state(graph, graph.child(item, state)),
        None => from_arguments(graph, graph.child(item, call.args)),
    }
}

/// Reads `(axes, values, items, {"0.14.1": {"axes": axes, "blocks": blocks}})`.
/// The first three members repeat the data of the last member for pandas
/// releases before 0.14.
fn from_state<'a>(graph: &Graph<'a>, state: Item<'a>) -> Result<Manager<'a>, PickleError> {
    let [_, _, _, layouts] = graph.fields(state, EXPECTED)?;
    let layout = graph.required(layouts, LAYOUT, EXPECTED)?;
    let axes = graph.required(layout, "axes", EXPECTED)?;
    let blocks = members(
        graph,
        graph.required(layout, "blocks", EXPECTED)?,
        |block| {
            Ok(RawBlock {
                values: graph.required(block, "values", EXPECTED)?,
                placement: graph.required(block, "mgr_locs", EXPECTED)?,
            })
        },
    )?;
    Ok(Manager { axes, blocks })
}

/// Reads the call `BlockManager(blocks, axes)` of pandas 1.3 and later. Each
/// block is a call `_unpickle_block(values, placement, ndim)`, or the same call
/// without `ndim`.
fn from_arguments<'a>(graph: &Graph<'a>, args: Item<'a>) -> Result<Manager<'a>, PickleError> {
    let [blocks, axes] = graph.fields(args, EXPECTED)?;
    let blocks = members(graph, blocks, |block| {
        let args = graph
            .call(block)
            .filter(|call| call.class == Global::Block)
            .map(|call| graph.child(block, call.args))
            .ok_or_else(|| graph.unexpected(block, EXPECTED))?;
        match graph.sequence(args) {
            Some(&[values, placement] | &[values, placement, _]) => Ok(RawBlock {
                values: graph.child(args, values),
                placement: graph.child(args, placement),
            }),
            _ => Err(graph.unexpected(args, EXPECTED)),
        }
    })?;
    Ok(Manager { axes, blocks })
}

fn members<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    read: impl Fn(Item<'a>) -> Result<RawBlock<'a>, PickleError>,
) -> Result<Vec<RawBlock<'a>>, PickleError> {
    graph
        .sequence(item)
        .ok_or_else(|| graph.unexpected(item, EXPECTED))?
        .iter()
        .map(|&member| read(graph.child(item, member)))
        .collect()
}

/// The positions of a block's columns in a frame of `columns` columns: a slice,
/// or an array of integers.
pub(super) fn placement<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    columns: usize,
) -> Result<Vec<usize>, PickleError> {
    let is_slice = graph
        .call(item)
        .is_some_and(|call| call.class == Global::Slice);
    let positions = if is_slice {
        slice(graph, item, columns)?
    } else {
        integers(graph, item)?
    };
    if positions.iter().all(|&position| position < columns) {
        Ok(positions)
    } else {
        Err(outside(columns).at(item.at))
    }
}

fn outside(columns: usize) -> Problem {
    Problem::Size {
        what: "a block",
        found: "columns outside the table".into(),
        expected: format!("column positions below {columns}"),
    }
}

/// Reads `slice(start, stop, step)`. If the step is negative and the slice
/// reaches column 0, the stop is `None`.
fn slice<'a>(graph: &Graph<'a>, item: Item<'a>, columns: usize) -> Result<Vec<usize>, PickleError> {
    const SLICE: &str = "a slice (start, stop, step) of columns";
    let args = graph.call(item).map_or(Value::None, |call| call.args);
    let [start, stop, step] = graph.fields(graph.child(item, args), SLICE)?;
    let (start, stop, step) = match (start.value, stop.value, step.value) {
        (Value::Int(start), Value::Int(stop), Value::Int(step)) if step != 0 => (start, stop, step),
        (Value::Int(start), Value::None, Value::Int(step)) if step < 0 => (start, -1, step),
        _ => return Err(graph.unexpected(item, SLICE)),
    };
    let mut positions = Vec::new();
    let mut next = start;
    while (step > 0 && next < stop) || (step < 0 && next > stop) {
        let position = usize::try_from(next).ok().filter(|&next| next < columns);
        positions.push(position.ok_or_else(|| outside(columns).at(item.at))?);
        next = next.saturating_add(step);
    }
    graph.spend(positions.len(), size_of::<usize>(), item.at)?;
    Ok(positions)
}

/// Reads an array of column positions.
fn integers<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Vec<usize>, PickleError> {
    let unexpected = || graph.unexpected(item, "the positions of a block's columns");
    let array = array::read(graph, item)?;
    let BlockData::Numbers(matrix) = array.data else {
        return Err(unexpected());
    };
    graph.spend(array.rows, size_of::<usize>(), item.at)?;
    let positions: Option<Vec<usize>> = (0..array.rows)
        .map(|row| match matrix.cell(0, row)? {
            Cell::Int(position) => usize::try_from(position).ok(),
            _ => None,
        })
        .collect();
    positions
        .filter(|_| array.columns == 1)
        .ok_or_else(unexpected)
}
