//! Operators that rearrange, select, repeat or reduce the elements of tensors.

use super::{Operation, axis, broadcast, integers};
use crate::read::onnx::tensors::Dimensions;

/// The dimensions of a node's first output, for the operators in this file. `None` for other
/// operators, or if the dimensions cannot be inferred.
pub(super) fn dimensions(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    match operation.node.op_type.as_str() {
        "Reshape" => reshape(operation),
        "Flatten" => flatten(operation),
        "Transpose" => transpose(operation),
        "Concat" => concatenation(operation),
        "Squeeze" => squeeze(operation),
        "Unsqueeze" => unsqueeze(operation),
        "Gather" => gather(operation),
        "Slice" => slice(operation),
        "Pad" => pad(operation),
        "Expand" => broadcast(operation.input(0)?, &sizes(operation.values(1)?)),
        "ConstantOfShape" => Some(sizes(operation.values(0)?)),
        "Shape" => Some(vec![u64::try_from(integers::shape(operation)?.len()).ok()]),
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
        | "ReduceL2" | "ReduceSumSquare" | "ReduceLogSum" | "ReduceLogSumExp" => {
            reduction(operation)
        }
        "ArgMax" | "ArgMin" => {
            let along = vec![operation.integer("axis", 0)];
            reduced(operation, &along)
        }
        _ => None,
    }
}

/// Converts the values of a tensor to the dimensions of a shape.
fn sizes(values: &[Option<i64>]) -> Dimensions {
    values
        .iter()
        .map(|value| u64::try_from((*value)?).ok())
        .collect()
}

/// The product of the dimensions; `None` if one of them is unknown.
fn elements(dimensions: &[Option<u64>]) -> Option<u64> {
    dimensions.iter().try_fold(1u64, |product, dimension| {
        product.checked_mul((*dimension)?)
    })
}

/// The target shape. A target dimension of 0 copies the input's dimension at the same position, and -1 is replaced with
/// the size that accounts for all remaining elements. For example, the input 2 x 6 and the target `[0, 3, -1]` give 2 x
/// 3 x 2.
fn reshape(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let target = operation.values(1)?;
    let x = operation.input(0);
    let copies = operation.integer("allowzero", 0) == 0;
    let size = |(index, value): (usize, &Option<i64>)| match value {
        Some(0) if copies => x.and_then(|x| *x.get(index)?),
        value => value.and_then(|value| u64::try_from(value).ok()),
    };
    let mut dimensions: Dimensions = target.iter().enumerate().map(size).collect();
    if let Some(left) = target.iter().position(|value| *value == Some(-1)) {
        dimensions[left] = Some(1);
        let rest = elements(&dimensions).filter(|rest| *rest > 0);
        let whole = x.and_then(|x| elements(x));
        dimensions[left] = whole.zip(rest).map(|(whole, rest)| whole / rest);
    }
    Some(dimensions)
}

/// The shape of the flattened matrix: the product of the dimensions before the axis, and the
/// product of the other dimensions.
fn flatten(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let at = match operation.integer("axis", 1) {
        at if usize::try_from(at) == Ok(x.len()) => x.len(),
        at => axis(at, x.len())?,
    };
    let (front, back) = x.split_at(at);
    Some(vec![elements(front), elements(back)])
}

fn transpose(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let Some(order) = operation.attribute("perm") else {
        return Some(x.iter().rev().copied().collect());
    };
    let order = order.ints.iter().map(|from| Some(x[axis(*from, x.len())?]));
    order
        .collect::<Option<Dimensions>>()
        .filter(|dimensions| dimensions.len() == x.len())
}

/// The dimensions of the inputs' concatenation. The sizes along the axis are added. Any other
/// dimension of the output is known if it is known for at least one input.
fn concatenation(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let mut dimensions = operation.input(0)?.clone();
    let along = axis(operation.attribute("axis")?.i, dimensions.len())?;
    for index in 1..operation.node.input.len() {
        let next = operation
            .input(index)
            .filter(|next| next.len() == dimensions.len())?;
        let sum = dimensions[along]
            .zip(next[along])
            .and_then(|(a, b)| a.checked_add(b));
        for (dimension, next) in dimensions.iter_mut().zip(next) {
            *dimension = dimension.or(*next);
        }
        dimensions[along] = sum;
    }
    Some(dimensions)
}

fn squeeze(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let whole = !operation.has(1) && operation.attribute("axes").is_none();
    if whole {
        let known = x.iter().all(Option::is_some);
        return known.then(|| x.iter().copied().filter(|size| *size != Some(1)).collect());
    }
    let axes = axes(&operation.integers("axes", 1)?, x.len())?;
    let kept = x
        .iter()
        .enumerate()
        .filter(|(index, _)| !axes.contains(index));
    Some(kept.map(|(_, size)| *size).collect())
}

fn unsqueeze(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let added = operation.integers("axes", 1)?;
    let rank = x.len().checked_add(added.len())?;
    let axes = axes(&added, rank)?;
    let mut rest = x.iter().copied();
    Some(
        (0..rank)
            .map(|index| {
                if axes.contains(&index) {
                    Some(1)
                } else {
                    rest.next()?
                }
            })
            .collect(),
    )
}

/// The axes as indices from 0. Negative axes count from the end.
fn axes(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    axes.iter().map(|at| axis(*at, rank)).collect()
}

/// The input's dimensions, with the dimensions of the indices in place of the axis that elements
/// are selected from.
fn gather(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let (x, indices) = (operation.input(0)?, operation.input(1)?);
    let along = axis(operation.integer("axis", 0), x.len())?;
    let back = &x[along + 1..];
    Some([&x[..along], indices, back].concat())
}

/// The input's dimensions after slicing. If a step is not 1, all sliced dimensions are unknown.
fn slice(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let mut dimensions = operation.input(0)?.clone();
    let starts = operation.integers("starts", 1);
    let ends = operation.integers("ends", 2);
    let along = if operation.has(3) || operation.attribute("axes").is_some() {
        operation.integers("axes", 3)?
    } else {
        (0..i64::try_from(starts.as_ref()?.len()).ok()?).collect()
    };
    let plain = !operation.has(4)
        || operation
            .integers("steps", 4)?
            .iter()
            .all(|step| *step == 1);
    for (index, at) in axes(&along, dimensions.len())?.into_iter().enumerate() {
        let start = starts.as_ref().and_then(|starts| starts.get(index));
        let end = ends.as_ref().and_then(|ends| ends.get(index));
        let bounds = start.zip(end).filter(|_| plain);
        dimensions[at] = dimensions[at].and_then(|size| {
            let (start, end) = bounds?;
            Some(bound(*end, size)?.saturating_sub(bound(*start, size)?))
        });
    }
    Some(dimensions)
}

/// A bound of a slice as an index from 0 to the size of the dimension. A negative bound counts from
/// the end.
pub(super) fn bound(at: i64, size: u64) -> Option<u64> {
    let size = i64::try_from(size).ok()?;
    let at = if at < 0 { at.saturating_add(size) } else { at };
    u64::try_from(at.clamp(0, size)).ok()
}

/// The input's dimensions after padding. If the padding is unknown, so are all dimensions.
fn pad(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let pads = operation.integers("pads", 1);
    let pads = pads.filter(|pads| pads.len() == 2 * x.len() && !operation.has(3));
    let size = |(index, size): (usize, &Option<u64>)| {
        let pads = pads.as_ref()?;
        let size = i64::try_from((*size)?).ok()?.checked_add(pads[index])?;
        u64::try_from(size.checked_add(pads[x.len() + index])?).ok()
    };
    Some(x.iter().enumerate().map(size).collect())
}

fn reduction(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    if operation.has(1) || operation.attribute("axes").is_some() {
        return reduced(operation, &operation.integers("axes", 1)?);
    }
    if operation.integer("noop_with_empty_axes", 0) != 0 {
        return operation.input(0).cloned();
    }
    let all: Vec<i64> = (0..i64::try_from(operation.input(0)?.len()).ok()?).collect();
    reduced(operation, &all)
}

/// The input's dimensions after reduction: the dimensions along the axes are 1 or are removed.
fn reduced(operation: &Operation<'_, '_>, along: &[i64]) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let axes = axes(along, x.len())?;
    let keep = operation.integer("keepdims", 1) != 0;
    let kept = x
        .iter()
        .enumerate()
        .filter(|(index, _)| keep || !axes.contains(index));
    Some(
        kept.map(|(index, size)| {
            if axes.contains(&index) {
                Some(1)
            } else {
                *size
            }
        })
        .collect(),
    )
}

/// The dimensions of each output. They equal the input's dimensions, except along the axis, where
/// each output gets only its share.
pub(super) fn split(operation: &Operation<'_, '_>) -> Option<Vec<Dimensions>> {
    let x = operation.input(0)?;
    let along = axis(operation.integer("axis", 0), x.len())?;
    let count = u64::try_from(operation.node.output.len())
        .ok()
        .filter(|count| *count > 0)?;
    let given = operation.has(1) || operation.attribute("split").is_some();
    let shares: Dimensions = if given {
        operation
            .integers("split", 1)?
            .iter()
            .map(|share| u64::try_from(*share).ok())
            .collect()
    } else {
        // Equal shares, except that the last share is smaller if there is a remainder: 7 is split
        // into 3, 3 and 1.
        let share = |size: u64, index: u64| {
            let equal = size.div_ceil(count);
            equal.min(size.saturating_sub(equal.saturating_mul(index)))
        };
        (0..count)
            .map(|index| x[along].map(|size| share(size, index)))
            .collect()
    };
    let part = |share| {
        let mut part = x.clone();
        part[along] = share;
        part
    };
    Some(shares.into_iter().map(part).collect())
}
