//! The labels of rows and columns.

use std::borrow::Cow;

use super::array;
use super::blocks::BlockData;
use super::cell::Cell;
use super::dtype::ItemType;
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Graph, Item, Value};
use super::matrix::Matrix;

/// The labels of rows. Each variant is a kind of pandas index.
#[derive(Debug, Clone, PartialEq)]
pub enum Labels<'a> {
    /// `RangeIndex`: `start`, `start + step`, and so on.
    Range {
        /// The first label.
        start: i64,
        /// The difference between consecutive labels, which is never 0.
        step: i64,
        /// The number of labels.
        len: usize,
    },
    /// Integers.
    Ints(Vec<i64>),
    /// Floating-point numbers.
    Floats(Vec<f64>),
    /// Times in nanoseconds since 1970-01-01, in UTC if the index has a time
    /// zone. A missing time is [`NAT`](super::NAT).
    DatetimesNs(Vec<i64>),
    /// Strings, or a mixture of objects.
    Cells(Vec<Cell<'a>>),
}

impl Labels<'_> {
    /// Number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::Range { len, .. } => *len,
            Self::Ints(labels) | Self::DatetimesNs(labels) => labels.len(),
            Self::Floats(labels) => labels.len(),
            Self::Cells(labels) => labels.len(),
        }
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A description of the type of the labels.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Range { .. } | Self::Ints(_) => "integers",
            Self::Floats(_) => "floating-point numbers",
            Self::DatetimesNs(_) => "times",
            Self::Cells(cells) if cells.iter().all(|cell| cell.as_text().is_some()) => "strings",
            Self::Cells(_) => "mixed objects",
        }
    }
}

/// Reads the labels of an axis.
pub(super) fn read<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Labels<'a>, PickleError> {
    const EXPECTED: &str = "the labels of an axis (class, state)";
    let call = graph
        .call(item)
        .filter(|call| call.class == Global::NewIndex)
        .ok_or_else(|| graph.unexpected(item, EXPECTED))?;
    let [class, state] = graph.fields(graph.child(item, call.args), EXPECTED)?;
    if class.value == Value::Global(Global::RangeIndex) {
        return range(graph, state);
    }
    let array = array::read(graph, item)?;
    if array.columns != 1 {
        return Err(graph.unexpected(item, "an axis of one dimension"));
    }
    match array.data {
        BlockData::Numbers(matrix) => numbers(graph, item, &matrix),
        BlockData::Cells(cells) => Ok(Labels::Cells(cells)),
    }
}

fn range<'a>(graph: &Graph<'a>, state: Item<'a>) -> Result<Labels<'a>, PickleError> {
    const EXPECTED: &str = "a RangeIndex (start, stop, step)";
    let number = |key| match graph.required(state, key, EXPECTED)?.value {
        Value::Int(value) => Ok(i128::from(value)),
        _ => Err(graph.unexpected(state, EXPECTED)),
    };
    let (start, stop, step) = (number("start")?, number("stop")?, number("step")?);
    let len = match step {
        0 => return Err(graph.unexpected(state, "a RangeIndex with a step other than 0")),
        1.. => (stop - start + step - 1) / step,
        _ => (start - stop - step - 1) / -step,
    };
    // Ranges of all lengths take the same number of bytes in the file. However, each label belongs to a row or column
    // with at least one byte of data, so there are at most as many labels as bytes.
    let len = usize::try_from(len.max(0))
        .ok()
        .filter(|&len| len <= graph.input_len());
    let len = len.ok_or_else(|| {
        let (what, limit) = ("labels", graph.input_len());
        Problem::Limit { what, limit }.at(state.at)
    })?;
    Ok(Labels::Range {
        // Both values were converted from 64-bit integers, so they fit.
        start: start as i64,
        step: step as i64,
        len,
    })
}

/// The labels in a numeric index.
fn numbers<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    matrix: &Matrix<'a>,
) -> Result<Labels<'a>, PickleError> {
    graph.spend(matrix.rows(), size_of::<i64>(), item.at)?;
    let cells = (0..matrix.rows()).filter_map(|row| matrix.cell(0, row));
    let integers = |value: fn(&Cell<'static>) -> Option<i64>, expected| {
        cells
            .clone()
            .map(|cell| value(&cell).ok_or_else(|| label_error(item, &cell, expected)))
            .collect::<Result<Vec<i64>, _>>()
    };
    match matrix.item() {
        ItemType::F32 | ItemType::F64 => {
            let floats = cells.filter_map(|cell| cell.as_f64());
            Ok(Labels::Floats(floats.collect()))
        }
        ItemType::Datetime(_) => {
            integers(Cell::as_datetime_ns, "a label in the years 1678 to 2261")
                .map(Labels::DatetimesNs)
        }
        _ => integers(Cell::as_i64, "an integer label below 2^63").map(Labels::Ints),
    }
}

fn label_error(item: Item<'_>, cell: &Cell<'_>, expected: &'static str) -> PickleError {
    let found = cell.describe();
    Problem::Unexpected { expected, found }.at(item.at)
}

/// The labels of columns as strings. Integers are written in decimal.
pub(super) fn names<'a>(
    graph: &Graph<'a>,
    item: Item<'a>,
    labels: Labels<'a>,
) -> Result<Vec<Cow<'a, str>>, PickleError> {
    const EXPECTED: &str = "columns whose names are strings or integers";
    let decimal = |label: i128| Cow::Owned(label.to_string());
    // Each label takes a `Cow` of 24 bytes and up to 20 digits.
    graph.spend(labels.len(), 48, item.at)?;
    match labels {
        Labels::Range { start, step, len } => Ok((0..len as i128)
            .map(|index| decimal(i128::from(start) + index * i128::from(step)))
            .collect()),
        Labels::Ints(labels) => Ok(labels
            .into_iter()
            .map(|label| decimal(label.into()))
            .collect()),
        Labels::Cells(cells) => cells
            .into_iter()
            .map(|cell| match cell {
                Cell::Text(text) => Ok(text),
                Cell::Int(label) => Ok(decimal(label.into())),
                cell => Err(label_error(item, &cell, EXPECTED)),
            })
            .collect(),
        other => {
            let found = other.describe().to_owned();
            let expected = EXPECTED;
            Err(Problem::Unexpected { expected, found }.at(item.at))
        }
    }
}
