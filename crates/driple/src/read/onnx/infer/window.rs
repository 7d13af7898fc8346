//! Operators that slide a window over the spatial dimensions: convolutions and pooling.
//!
//! By default, a window takes `(size + pads - extent) / stride + 1` steps over a dimension of `size` elements. The
//! quotient is rounded down. For example, let a kernel of 7 pixels have a stride of 2 and a padding of 3 on each side.
//! Over 224 pixels, the window then takes 112 steps: (224 + 6 - 7) / 2 is 111.5, which is rounded down, and 1 is added.

use super::Operation;
use crate::read::onnx::tensors::Dimensions;

/// A sliding window: its size, and how it moves over the input.
struct Window {
    kernel: Vec<Option<u64>>,
    strides: Vec<u64>,
    dilations: Vec<u64>,
    /// The total padding on both sides, for each dimension.
    pads: Vec<u64>,
    /// Whether the operator pads so that the output's size is the input's size divided by the
    /// stride, rounded up.
    same: bool,
    /// Whether a last step is added even if the window then reaches beyond the padded input.
    ceil: bool,
}

/// The dimensions of a convolution's output: batch, output channels, and the number of window steps
/// in each spatial dimension.
pub(super) fn convolution(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let (x, weights) = (operation.input(0)?, operation.input(1)?);
    let window = Window::of(operation, weights.get(2..)?.to_vec())?;
    let steps = window.over(x.get(2..)?)?;
    Some([x[0], weights[0]].into_iter().chain(steps).collect())
}

/// The dimensions of a pooling operator's output: batch, the input's channels, and the number of
/// window steps in each spatial dimension.
pub(super) fn pool(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let kernel = operation.attribute("kernel_shape")?;
    let kernel = kernel
        .ints
        .iter()
        .map(|size| u64::try_from(*size).ok())
        .collect();
    let steps = Window::of(operation, kernel)?.over(x.get(2..)?)?;
    Some(x[..2].iter().copied().chain(steps).collect())
}

/// The input's dimensions, with each spatial dimension reduced to 1.
pub(super) fn global(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let x = operation.input(0)?;
    let space = x.get(2..)?.iter().map(|_| Some(1));
    Some(x[..2].iter().copied().chain(space).collect())
}

/// The dimensions of a transposed convolution's output. An ordinary convolution over an image of
/// this size would give an image of the input's size.
pub(super) fn transposed(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let (x, weights) = (operation.input(0)?, operation.input(1)?);
    let space = x.get(2..)?;
    let window = Window::of(operation, weights.get(2..)?.to_vec())?;
    let extra = list(operation, "output_padding", space.len(), 0)?;
    let groups = u64::try_from(operation.integer("group", 1)).ok()?;
    let channels = weights[1].and_then(|channels| channels.checked_mul(groups));
    if window.same
        || window.kernel.len() != space.len()
        || operation.attribute("output_shape").is_some()
    {
        return None;
    }
    let size = |index: usize| {
        let steps = space[index]?
            .checked_sub(1)?
            .checked_mul(window.strides[index])?;
        let size = steps
            .checked_add(window.extent(index)?)?
            .checked_add(extra[index])?;
        size.checked_sub(window.pads[index])
    };
    Some(
        [x[0], channels]
            .into_iter()
            .chain((0..space.len()).map(size))
            .collect(),
    )
}

impl Window {
    /// The window of a node. Missing attributes are set to their default values.
    fn of(operation: &Operation<'_, '_>, kernel: Vec<Option<u64>>) -> Option<Self> {
        let count = kernel.len();
        let pads = list(operation, "pads", 2 * count, 0)?;
        let pads = (0..count).map(|index| pads[index].checked_add(pads[count + index]));
        let auto = operation
            .attribute("auto_pad")
            .map_or(b"".as_slice(), |auto| &auto.s);
        Some(Self {
            strides: list(operation, "strides", count, 1)?,
            dilations: list(operation, "dilations", count, 1)?,
            pads: pads.collect::<Option<_>>()?,
            same: auto.starts_with(b"SAME"),
            ceil: operation.integer("ceil_mode", 0) != 0,
            kernel,
        })
    }

    /// The number of elements of a dimension that the window spans.
    fn extent(&self, index: usize) -> Option<u64> {
        let reach = self.kernel[index]?
            .checked_sub(1)?
            .checked_mul(self.dilations[index])?;
        reach.checked_add(1)
    }

    /// The number of steps in each spatial dimension; `None` if the window has more or fewer
    /// dimensions than `space`.
    fn over(&self, space: &[Option<u64>]) -> Option<Dimensions> {
        let steps = |index: usize| self.steps(index, space[index]?);
        (space.len() == self.kernel.len()).then(|| (0..space.len()).map(steps).collect())
    }

    fn steps(&self, index: usize, size: u64) -> Option<u64> {
        let stride = self.strides[index];
        if stride == 0 {
            return None;
        }
        if self.same {
            return Some(size.div_ceil(stride));
        }
        let (pads, extent) = (self.pads[index], self.extent(index)?);
        let room = size.checked_add(pads)?.checked_sub(extent)?;
        let steps = if self.ceil {
            room.div_ceil(stride)
        } else {
            room / stride
        };
        steps.checked_add(1)
    }
}

/// The values of an attribute that must have `count` integers. If the attribute is missing, all
/// values are `default`.
fn list(operation: &Operation<'_, '_>, name: &str, count: usize, default: u64) -> Option<Vec<u64>> {
    let Some(attribute) = operation.attribute(name) else {
        return Some(vec![default; count]);
    };
    let list = attribute
        .ints
        .iter()
        .map(|value| u64::try_from(*value).ok());
    list.collect::<Option<Vec<_>>>()
        .filter(|list| list.len() == count)
}
