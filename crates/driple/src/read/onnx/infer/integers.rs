//! Values of small integer tensors, from which exported models compute shapes.

use super::arrange::bound;
use super::{Operation, axis};
use crate::read::onnx::tensors::VALUES;

/// The values in order; `None` for an unknown value.
type Integers = Vec<Option<i64>>;

/// The values of a node's first output, computed on the assumption that all tensors have at most
/// one dimension; `None` if they cannot be computed.
pub(super) fn of(operation: &Operation<'_, '_>) -> Option<Integers> {
    match operation.node.op_type.as_str() {
        "Shape" => shape(operation),
        "Cast" | "Identity" | "Squeeze" | "Unsqueeze" => Some(operation.values(0)?.to_vec()),
        "Concat" if operation.node.input.len() <= VALUES => {
            let parts = (0..operation.node.input.len()).map(|index| operation.values(index));
            Some(parts.collect::<Option<Vec<_>>>()?.concat())
        }
        "Gather" => gather(operation),
        "Slice" => slice(operation),
        "Add" => each(operation, i64::checked_add),
        "Sub" => each(operation, i64::checked_sub),
        "Mul" => each(operation, i64::checked_mul),
        "Div" => each(operation, i64::checked_div),
        _ => None,
    }
}

/// The dimensions of the input, or a range of them.
pub(super) fn shape(operation: &Operation<'_, '_>) -> Option<Integers> {
    let x = operation.input(0)?;
    let rank = u64::try_from(x.len()).ok()?;
    let end = operation.attribute("end").map_or(i64::MAX, |end| end.i);
    let start = usize::try_from(bound(operation.integer("start", 0), rank)?).ok()?;
    let end = usize::try_from(bound(end, rank)?).ok()?;
    let size = |size: &Option<u64>| i64::try_from((*size)?).ok();
    Some(x.get(start..end)?.iter().map(size).collect())
}

fn gather(operation: &Operation<'_, '_>) -> Option<Integers> {
    let values = operation.values(0)?;
    let choose = |index: &Option<i64>| values[axis((*index)?, values.len())?];
    Some(operation.values(1)?.iter().map(choose).collect())
}

fn slice(operation: &Operation<'_, '_>) -> Option<Integers> {
    let values = operation.values(0)?;
    let plain = !operation.has(4) || operation.integers("steps", 4)? == [1];
    let (starts, ends) = (
        operation.integers("starts", 1)?,
        operation.integers("ends", 2)?,
    );
    let ([start], [end], true) = (&starts[..], &ends[..], plain) else {
        return None;
    };
    let count = u64::try_from(values.len()).ok()?;
    let (start, end) = (bound(*start, count)?, bound(*end, count)?);
    let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
    Some(values.get(range).unwrap_or_default().to_vec())
}

/// Combines two lists element by element. The lists must have the same length, or one list must
/// have a single value, which is combined with each value of the other list.
fn each(
    operation: &Operation<'_, '_>,
    combine: impl Fn(i64, i64) -> Option<i64>,
) -> Option<Integers> {
    let (a, b) = (operation.values(0)?, operation.values(1)?);
    let fits = a.len() == b.len() || a.len() == 1 || b.len() == 1;
    if !fits || a.is_empty() || b.is_empty() {
        return None;
    }
    let pair = |index: usize| combine(a[index % a.len()]?, b[index % b.len()]?);
    Some((0..a.len().max(b.len())).map(pair).collect())
}
