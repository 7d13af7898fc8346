//! The known shapes of a model's tensors, and the known values of tensors that may represent
//! shapes.

use std::collections::BTreeMap;

use super::message::{Graph, Tensor, ValueInfo, data_type};
use crate::graph::Shape;

/// The size of each dimension of a tensor; `None` if it is unknown.
pub(super) type Dimensions = Vec<Option<u64>>;

/// The maximum number of values in a tensor that may represent a shape or a list of axes.
pub(super) const VALUES: usize = 32;

/// The maximum number of dimensions of a tensor from which other shapes are inferred. The limit
/// keeps the memory proportional to the size of the file.
const RANK: usize = 16;

/// The known shapes and values of the model's tensors, by name.
#[derive(Default)]
pub(super) struct Tensors<'g> {
    shapes: BTreeMap<&'g str, Dimensions>,
    integers: BTreeMap<&'g str, Vec<Option<i64>>>,
}

impl<'g> Tensors<'g> {
    /// The shapes and values that the model itself contains.
    pub(super) fn of(graph: &'g Graph) -> Self {
        let mut tensors = Self::default();
        for info in graph
            .input
            .iter()
            .chain(&graph.output)
            .chain(&graph.value_info)
        {
            if let Some(dimensions) = of_info(info) {
                tensors.shapes.insert(&info.name, dimensions);
            }
        }
        for tensor in &graph.initializer {
            tensors.constant(&tensor.name, tensor);
        }
        for sparse in &graph.sparse_initializer {
            if let Some(values) = &sparse.values {
                tensors.shapes.insert(&values.name, known(&sparse.dims));
            }
        }
        tensors
    }

    /// The shape of a tensor.
    pub(super) fn shape(&self, value: &str) -> Shape {
        let dimensions = self.shapes.get(value).cloned();
        dimensions.map_or(Shape::Unknown, Shape::Dimensions)
    }

    /// The dimensions of a tensor; `None` if their number is unknown or above `RANK`.
    pub(super) fn dimensions(&self, value: &str) -> Option<&Dimensions> {
        self.shapes
            .get(value)
            .filter(|dimensions| dimensions.len() <= RANK)
    }

    /// The values of a small tensor of integers with at most one dimension; `None` if nothing is
    /// known about them.
    pub(super) fn integers(&self, value: &str) -> Option<&[Option<i64>]> {
        self.integers.get(value).map(Vec::as_slice)
    }

    /// Adds inferred dimensions, unless there are more than `RANK`. Known dimensions do not change.
    pub(super) fn infer(&mut self, value: &'g str, inferred: Dimensions) {
        if inferred.len() > RANK {
            return;
        }
        let said = self.shapes.entry(value).or_insert_with(|| inferred.clone());
        if said.len() == inferred.len() {
            for (said, inferred) in said.iter_mut().zip(inferred) {
                *said = said.or(inferred);
            }
        }
    }

    /// Adds inferred values. They are ignored if there are more than [`VALUES`], or if the tensor
    /// is not known to have at most one dimension.
    pub(super) fn infer_integers(&mut self, value: &'g str, integers: Vec<Option<i64>>) {
        let flat = self
            .dimensions(value)
            .is_some_and(|dimensions| dimensions.len() <= 1);
        if flat && integers.len() <= VALUES {
            self.integers.insert(value, integers);
        }
    }

    /// Adds the shape of a constant, and its values if they may represent a shape.
    pub(super) fn constant(&mut self, value: &'g str, tensor: &Tensor) {
        self.shapes.insert(value, known(&tensor.dims));
        if let Some(integers) = integers(tensor) {
            self.integers.insert(value, integers);
        }
    }
}

/// Dimensions from signed integers. Negative integers become unknown dimensions.
pub(super) fn known(dims: &[i64]) -> Dimensions {
    dims.iter().map(|dim| u64::try_from(*dim).ok()).collect()
}

/// The declared shape of a value; `None` if the declaration has no shape.
fn of_info(info: &ValueInfo) -> Option<Dimensions> {
    let shape = info.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?;
    let size = |size: i64| u64::try_from(size).ok();
    Some(
        shape
            .dim
            .iter()
            .map(|dim| dim.dim_value.and_then(size))
            .collect(),
    )
}

/// The values of a small tensor of 64-bit integers with at most one dimension; `None` for other
/// tensors.
fn integers(tensor: &Tensor) -> Option<Vec<Option<i64>>> {
    let count = match tensor.dims[..] {
        [] => 1,
        [count] => usize::try_from(count).ok()?,
        _ => return None,
    };
    if tensor.data_type != data_type::INT64 || count > VALUES {
        return None;
    }
    let raw = tensor
        .raw_data
        .as_chunks::<8>()
        .0
        .iter()
        .map(|bytes| i64::from_le_bytes(*bytes));
    let values: Vec<Option<i64>> = if tensor.int64_data.is_empty() {
        raw.map(Some).collect()
    } else {
        tensor.int64_data.iter().copied().map(Some).collect()
    };
    (values.len() == count).then_some(values)
}
