//! Infers shapes that a model does not contain, according to the definitions of ONNX's operators.
//!
//! The shapes of some outputs remain unknown: outputs of operators that ONNX itself does not
//! define, outputs of control flow, and outputs whose shapes depend on the values of floating-point
//! tensors.

mod arrange;
mod integers;
mod window;

use super::message::{Attribute, Node};
use super::tensors::{Dimensions, Tensors};

/// Infers the shapes and values of a node's outputs from its inputs. Nodes must be passed in order,
/// because inference for a node uses the results for the nodes before it.
pub(super) fn outputs<'g>(node: &'g Node, tensors: &mut Tensors<'g>) {
    let Some(output) = node.output.first().filter(|output| !output.is_empty()) else {
        return;
    };
    let operation = Operation { node, tensors };
    if node.op_type == "Constant" {
        if let Some(tensor) = operation
            .attribute("value")
            .and_then(|value| value.t.as_deref())
        {
            tensors.constant(output, tensor);
        }
        return;
    }
    let integers = integers::of(&operation);
    if node.op_type == "Split" {
        let parts = arrange::split(&operation).unwrap_or_default();
        for (output, dimensions) in node.output.iter().zip(parts) {
            tensors.infer(output, dimensions);
        }
        return;
    }
    let dimensions = dimensions(&operation);
    if let Some(dimensions) = dimensions {
        tensors.infer(output, dimensions);
    }
    if let Some(integers) = integers {
        tensors.infer_integers(output, integers);
    }
}

/// The dimensions of a node's first output.
fn dimensions(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    match operation.node.op_type.as_str() {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "Mod" | "Max" | "Min" | "Sum" | "Mean"
        | "Where" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "And"
        | "Or" | "Xor" | "PRelu" => operation.broadcast(),
        "Conv" => window::convolution(operation),
        "ConvTranspose" => window::transposed(operation),
        "MaxPool" | "AveragePool" | "LpPool" => window::pool(operation),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => window::global(operation),
        "MatMul" => product(operation),
        "Gemm" => gemm(operation),
        "LSTM" | "GRU" | "RNN" => recurrent(operation),
        "Abs"
        | "BatchNormalization"
        | "Cast"
        | "Ceil"
        | "Celu"
        | "Clip"
        | "Cos"
        | "CumSum"
        | "Dropout"
        | "Elu"
        | "Erf"
        | "Exp"
        | "Floor"
        | "Gelu"
        | "GroupNormalization"
        | "HardSigmoid"
        | "HardSwish"
        | "Identity"
        | "InstanceNormalization"
        | "LRN"
        | "LayerNormalization"
        | "LeakyRelu"
        | "Log"
        | "LogSoftmax"
        | "MeanVarianceNormalization"
        | "Mish"
        | "Neg"
        | "Not"
        | "RMSNormalization"
        | "Reciprocal"
        | "Relu"
        | "Round"
        | "Selu"
        | "Sigmoid"
        | "Sign"
        | "SimplifiedLayerNormalization"
        | "Sin"
        | "Softmax"
        | "Softplus"
        | "Softsign"
        | "Sqrt"
        | "Tanh"
        | "ThresholdedRelu"
        | "Trilu"
        | "LpNormalization" => operation.input(0).cloned(),
        _ => arrange::dimensions(operation),
    }
}

/// A node, with the known shapes and values of tensors.
struct Operation<'o, 'g> {
    node: &'g Node,
    tensors: &'o Tensors<'g>,
}

impl<'o, 'g> Operation<'o, 'g> {
    /// The dimensions of an input.
    fn input(&self, index: usize) -> Option<&'o Dimensions> {
        self.tensors.dimensions(self.node.input.get(index)?)
    }

    /// The values of a small integer input. Some of them may be unknown.
    fn values(&self, index: usize) -> Option<&'o [Option<i64>]> {
        self.tensors.integers(self.node.input.get(index)?)
    }

    /// Whether an input is present.
    fn has(&self, index: usize) -> bool {
        self.node
            .input
            .get(index)
            .is_some_and(|input| !input.is_empty())
    }

    fn attribute(&self, name: &str) -> Option<&'g Attribute> {
        self.node
            .attribute
            .iter()
            .find(|attribute| attribute.name == name)
    }

    /// The value of an integer attribute, or `default` if the attribute is missing.
    fn integer(&self, name: &str, default: i64) -> i64 {
        self.attribute(name)
            .map_or(default, |attribute| attribute.i)
    }

    /// Integer parameters of the operator, which old versions of ONNX store in an attribute and
    /// newer versions in an input.
    fn integers(&self, name: &str, input: usize) -> Option<Vec<i64>> {
        if let Some(attribute) = self.attribute(name) {
            return Some(attribute.ints.clone());
        }
        self.values(input)?.iter().copied().collect()
    }

    /// The common shape of all inputs after multidirectional broadcasting.
    fn broadcast(&self) -> Option<Dimensions> {
        let mut dimensions = self.input(0)?.clone();
        for index in 1..self.node.input.len() {
            dimensions = broadcast(&dimensions, self.input(index)?)?;
        }
        Some(dimensions)
    }
}

/// The common shape of two tensors after broadcasting; `None` if their shapes are incompatible.
fn broadcast(a: &[Option<u64>], b: &[Option<u64>]) -> Option<Dimensions> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let (front, back) = long.split_at(long.len() - short.len());
    let both = back.iter().zip(short).map(|pair| match pair {
        (Some(1), other) | (other, Some(1)) => Some(*other),
        (Some(a), Some(b)) => (a == b).then_some(Some(*a)),
        // The unknown dimension must be 1 or equal to the known dimension, so the result is the
        // known dimension.
        (known, None) | (None, known) => Some(*known),
    });
    front
        .iter()
        .map(|dimension| Some(*dimension))
        .chain(both)
        .collect()
}

/// The axis as an index from 0. A negative axis counts from the end.
fn axis(axis: i64, rank: usize) -> Option<usize> {
    let from_end = i64::try_from(rank).ok()?;
    let axis = if axis < 0 {
        axis.checked_add(from_end)?
    } else {
        axis
    };
    usize::try_from(axis).ok().filter(|axis| *axis < rank)
}

/// The shape of a matrix product. The matrices span the last two dimensions; the dimensions before them are broadcast.
fn product(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let (a, b) = (operation.input(0)?, operation.input(1)?);
    let (a_batch, &[rows, _]) = a.split_last_chunk::<2>()?;
    let (b_batch, &[_, columns]) = b.split_last_chunk::<2>()?;
    let mut dimensions = broadcast(a_batch, b_batch)?;
    dimensions.extend([rows, columns]);
    Some(dimensions)
}

/// The shape of the product of two matrices, each of which may be transposed.
fn gemm(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let side = |index, transposed: bool, last: bool| {
        let matrix = operation.input(index)?;
        (matrix.len() == 2).then(|| matrix[usize::from(transposed != last)])
    };
    let rows = side(0, operation.integer("transA", 0) != 0, false)?;
    let columns = side(1, operation.integer("transB", 0) != 0, true)?;
    Some(vec![rows, columns])
}

/// The shape of all hidden states of a recurrent layer: steps, directions, batch and hidden size.
fn recurrent(operation: &Operation<'_, '_>) -> Option<Dimensions> {
    let (x, weights) = (operation.input(0)?, operation.input(1)?);
    if x.len() != 3 || weights.is_empty() || operation.integer("layout", 0) != 0 {
        return None;
    }
    let size = u64::try_from(operation.attribute("hidden_size")?.i).ok();
    Some(vec![x[0], weights[0], x[1], size])
}
