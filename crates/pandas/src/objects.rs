//! Reads arrays of Python objects: numbers, strings, times and lists of
//! numbers.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::buffer;
use super::calendar;
use super::cell::{Cell, NAT};
use super::dtype::{self, Dtype, TimeUnit};
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Call, Graph, Item, Value};
use super::ndarray;

/// The cells in the list `item`.
pub(super) fn read<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Vec<Cell<'a>>, PickleError> {
    let members = graph
        .sequence(item)
        .ok_or_else(|| graph.unexpected(item, "a list of objects"))?;
    graph.spend(members.len(), size_of::<Cell<'_>>(), item.at)?;
    let mut lists = BTreeMap::new();
    members
        .iter()
        .map(|&member| match member {
            // Many rows often share one list, so each list is converted only once.
            Value::Node(id) => {
                if let Some(known) = lists.get(&id) {
                    return Ok(Cell::Numbers(Arc::clone(known)));
                }
                let cell = node(graph, graph.child(item, member))?;
                if let Cell::Numbers(numbers) = &cell {
                    lists.insert(id, Arc::clone(numbers));
                }
                Ok(cell)
            }
            _ => Ok(plain(member)),
        })
        .collect()
}

/// The cell of a value that is neither a container nor a call.
fn plain<'a>(value: Value<'a>) -> Cell<'a> {
    match value {
        Value::None | Value::Global(Global::NotAvailable) => Cell::Missing,
        Value::Bool(value) => Cell::Bool(value),
        Value::Int(value) => Cell::Int(value),
        Value::Long(_) => Cell::Other("an integer of more than 64 bits"),
        Value::Float(value) => Cell::Float(value),
        Value::Text(text) => Cell::Text(Cow::Borrowed(text)),
        Value::Bytes(_) => Cell::Other("bytes"),
        Value::Global(_) => Cell::Other("a class"),
        Value::Node(_) => Cell::Other("an object"),
    }
}

/// The cell of a container or a call.
fn node<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Cell<'a>, PickleError> {
    if let Some(members) = graph.sequence(item) {
        return list(graph, item, members);
    }
    let Some(call) = graph.call(item) else {
        return Ok(Cell::Other("a dictionary"));
    };
    match call.class {
        Global::Reconstruct | Global::FromBuffer => numbers_of_array(graph, item, call),
        _ => single(graph, item, call),
    }
}

/// The cell of a call that would create a single value.
fn single<'a>(graph: &Graph<'a>, item: Item<'a>, call: Call<'a>) -> Result<Cell<'a>, PickleError> {
    match call.class {
        Global::Scalar => scalar(graph, item, call),
        Global::Timestamp => timestamp(graph, item, call),
        Global::NotATime => Ok(Cell::DatetimeNs(NAT)),
        Global::DateTime => datetime(graph, item, call),
        Global::Encode | Global::Bytes => Ok(Cell::Other("bytes")),
        _ => Ok(Cell::Other(
            "an object that is not a number, string, time or list",
        )),
    }
}

/// The cell of a list of numbers.
fn list<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    members: &[Value<'a>],
) -> Result<Cell<'a>, PickleError> {
    graph.spend(members.len(), size_of::<f64>(), item.at)?;
    let mut numbers = Vec::with_capacity(members.len());
    for &member in members {
        let child = graph.child(item, member);
        let cell = match graph.call(child) {
            Some(call) => single(graph, child, call)?,
            None => plain(member),
        };
        match cell {
            Cell::Int(_) | Cell::Float(_) => numbers.extend(cell.as_f64()),
            _ => return Ok(Cell::Other("a list with members that are not numbers")),
        }
    }
    Ok(Cell::Numbers(numbers.into()))
}

/// The cell of a numpy array of numbers. The members of an array of objects are not read, because
/// the array could contain itself.
fn numbers_of_array<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Cell<'a>, PickleError> {
    let numbers = match ndarray::numbers(graph, item, call)? {
        Some(matrix) if matrix.columns() == 1 => {
            graph.spend(matrix.rows(), size_of::<f64>(), item.at)?;
            (0..matrix.rows())
                .map(|row| matrix.cell(0, row)?.as_f64())
                .collect()
        }
        _ => None,
    };
    Ok(numbers.map_or(
        Cell::Other("an array that is not a list of numbers"),
        |numbers: Vec<f64>| Cell::Numbers(numbers.into()),
    ))
}

/// Reads `scalar(dtype, bytes)`, one item of an array.
fn scalar<'a>(graph: &Graph<'a>, item: Item<'a>, call: Call<'a>) -> Result<Cell<'a>, PickleError> {
    const EXPECTED: &str = "a numpy number (dtype, bytes)";
    let [dtype, data] = graph.fields(graph.child(item, call.args), EXPECTED)?;
    let Dtype::Items(item_type) = dtype::read(graph, dtype)? else {
        return Ok(Cell::Other("a numpy object"));
    };
    let bytes = buffer::read(graph, data)?;
    if bytes.len() == item_type.size() {
        Ok(item_type.cell(&bytes))
    } else {
        Err(graph.unexpected(data, "the bytes of one numpy number"))
    }
}

/// Reads `Timestamp(nanoseconds, freq, zone)`, which has the unit as a fourth
/// argument since pandas 1.5. Regardless of the time zone, the number is
/// counted from 1970 in UTC.
fn timestamp<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Cell<'a>, PickleError> {
    let unexpected = || graph.unexpected(item, "a Timestamp (value, freq, zone, unit)");
    let args = graph.sequence(graph.child(item, call.args));
    let (value, unit) = match args {
        Some(&[Value::Int(value), _, _]) => (value, TimeUnit::Nanoseconds),
        Some(&[Value::Int(value), _, _, unit]) => (value, resolution(unit).ok_or_else(unexpected)?),
        _ => return Err(unexpected()),
    };
    let unit_name = unit.name();
    let out_of_range = Problem::TimeRange {
        value,
        unit: unit_name,
    };
    let ns = unit.to_ns(value).ok_or_else(|| out_of_range.at(item.at))?;
    Ok(Cell::DatetimeNs(ns))
}

/// The unit that numpy represents by this number.
fn resolution(code: Value<'_>) -> Option<TimeUnit> {
    Some(match code.as_usize()? {
        7 => TimeUnit::Seconds,
        8 => TimeUnit::Milliseconds,
        9 => TimeUnit::Microseconds,
        10 => TimeUnit::Nanoseconds,
        _ => return None,
    })
}

/// Reads `datetime(packed)`. A second argument would be the time zone of the
/// packed time, which is not supported.
fn datetime<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    call: Call<'a>,
) -> Result<Cell<'a>, PickleError> {
    let args = graph.child(item, call.args);
    let Some(&[packed]) = graph.sequence(args) else {
        return Ok(Cell::Other("a datetime with a time zone"));
    };
    let packed = buffer::read(graph, graph.child(args, packed))?;
    Ok(match calendar::packed_ns(&packed) {
        Some(ns) => Cell::DatetimeNs(ns),
        None => Cell::Other("an invalid time or one outside the years 1678 to 2261"),
    })
}
