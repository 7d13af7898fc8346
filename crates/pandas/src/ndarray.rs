//! Reads numpy arrays of one or two dimensions.

use super::array::Array;
use super::blocks::BlockData;
use super::buffer;
use super::dtype::{self, Dtype, ItemType};
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Call, Graph, Item, Value};
use super::matrix::{Matrix, Order};
use super::objects;

/// The parts of a recorded array.
struct Parts<'a> {
    shape: Item<'a>,
    dtype: Item<'a>,
    order: Order,
    data: Item<'a>,
}

/// Reads the array that `call` would create.
pub(super) fn read<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Array<'a>, PickleError> {
    let parts = parts(graph, item, call)?;
    let (columns, rows) = shape(graph, parts.shape)?;
    let data = match dtype::read(graph, parts.dtype)? {
        Dtype::Items(item_type) => BlockData::Numbers(matrix(graph, item, &parts, item_type)?),
        // Objects are always written in the order of the axes, regardless of
        // the order flag.
        Dtype::Objects => {
            let cells = objects::read(graph, parts.data)?;
            if columns.checked_mul(rows) != Some(cells.len()) {
                let expected = format!("{columns} x {rows} objects");
                return Err(wrong_size(cells.len(), "objects", expected).at(item.at));
            }
            BlockData::Cells(cells)
        }
    };
    Ok(Array {
        columns,
        rows,
        data,
    })
}

/// The numbers or times of the array that `call` would create; `None` if it
/// holds objects.
pub(super) fn numbers<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Option<Matrix<'a>>, PickleError> {
    let parts = parts(graph, item, call)?;
    match dtype::read(graph, parts.dtype)? {
        Dtype::Items(item_type) => matrix(graph, item, &parts, item_type).map(Some),
        Dtype::Objects => Ok(None),
    }
}

fn parts<'a>(graph: &Graph<'a>, item: Item<'a>, call: Call<'a>) -> Result<Parts<'a>, PickleError> {
    match call.class {
        Global::FromBuffer => from_buffer(graph, item, call),
        _ => reconstructed(graph, item, call),
    }
}

fn matrix<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    parts: &Parts<'a>,
    item_type: ItemType,
) -> Result<Matrix<'a>, PickleError> {
    let (columns, rows) = shape(graph, parts.shape)?;
    let bytes = buffer::read(graph, parts.data)?;
    let found = bytes.len();
    Matrix::new(bytes, item_type, columns, rows, parts.order).ok_or_else(|| {
        let expected = format!("{columns} x {rows} items of {}", item_type.name());
        wrong_size(found, "bytes", expected).at(item.at)
    })
}

fn wrong_size(found: usize, unit: &str, expected: String) -> Problem {
    let found = format!("{found} {unit}");
    Problem::Size {
        what: "an array",
        found,
        expected,
    }
}

/// Reads `_reconstruct(ndarray, (0,), b'b')` with the state `(1, shape, dtype,
/// is_fortran, data)`.
fn reconstructed<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Parts<'a>, PickleError> {
    const EXPECTED: &str = "a numpy array (version, shape, dtype, order, data)";
    let [class, ..] = graph.fields::<3>(graph.child(item, call.args), EXPECTED)?;
    let [_, shape, dtype, fortran, data] = graph.fields(graph.state(item, call), EXPECTED)?;
    let order = match (class.value, fortran.value) {
        (Value::Global(Global::NdArray), Value::Bool(false)) => Order::Columns,
        (Value::Global(Global::NdArray), Value::Bool(true)) => Order::Rows,
        _ => return Err(graph.unexpected(item, EXPECTED)),
    };
    Ok(Parts {
        shape,
        dtype,
        order,
        data,
    })
}

/// Reads `_frombuffer(data, dtype, shape, order)`.
fn from_buffer<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Parts<'a>, PickleError> {
    const EXPECTED: &str = "a numpy array (data, dtype, shape, order)";
    let [data, dtype, shape, order] = graph.fields(graph.child(item, call.args), EXPECTED)?;
    let order = match order.value {
        Value::Text("C") => Order::Columns,
        Value::Text("F") => Order::Rows,
        _ => return Err(graph.unexpected(order, "the order of an array, C or F")),
    };
    Ok(Parts {
        shape,
        dtype,
        order,
        data,
    })
}

/// The numbers of columns and rows. In pandas, the first axis of a block runs
/// over its columns.
fn shape<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<(usize, usize), PickleError> {
    let found = match graph.sequence(item) {
        Some(&[rows]) => rows.as_usize().map(|rows| (1, rows)),
        Some(&[columns, rows]) => columns.as_usize().zip(rows.as_usize()),
        _ => None,
    };
    found.ok_or_else(|| graph.unexpected(item, "the shape of an array of one or two dimensions"))
}
