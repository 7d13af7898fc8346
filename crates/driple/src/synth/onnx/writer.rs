//! Writes the parts of an ONNX model: nodes, constants, values and attributes.

use prost::bytes::Bytes;

use crate::read::onnx::message::{
    Attribute, Dim, Graph, Node, Tensor, TensorShape, TensorType, Type, ValueInfo, attribute_kind,
    data_type,
};
use crate::synth::network::{Network, Op, Value};

/// An ONNX model that is being written.
pub(super) struct Writer<'n> {
    pub(super) network: &'n Network,
    /// For each step so far, whether it outputs images.
    pub(super) images: Vec<bool>,
    pub(super) graph: Graph,
}

impl Writer<'_> {
    /// Adds a node and returns the name of its output, which is also the node's name.
    pub(super) fn node(
        &mut self,
        name: &str,
        op: &str,
        inputs: &[&str],
        attribute: Vec<Attribute>,
    ) -> String {
        self.graph.node.push(Node {
            input: inputs.iter().map(|input| (*input).to_owned()).collect(),
            output: vec![name.to_owned()],
            name: name.to_owned(),
            op_type: op.to_owned(),
            attribute,
        });
        name.to_owned()
    }

    /// Adds a tensor of integers with at most one dimension. Returns its name.
    pub(super) fn integers(&mut self, name: String, dims: &[i64], values: &[i64]) -> String {
        let (data_type, int64_data) = (data_type::INT64, values.to_vec());
        let tensor = Tensor {
            dims: dims.to_vec(),
            data_type,
            int64_data,
            name,
            ..Tensor::default()
        };
        self.constant(tensor)
    }

    /// Adds a scalar tensor. Returns its name.
    pub(super) fn number(&mut self, name: String, value: f32) -> String {
        self.constant(Tensor {
            name,
            ..float(&[], value)
        })
    }

    fn constant(&mut self, tensor: Tensor) -> String {
        let name = tensor.name.clone();
        self.graph.initializer.push(tensor);
        name
    }

    /// The name, type and shape of a value.
    pub(super) fn info(&self, value: Value, elem_type: i32) -> ValueInfo {
        let step = &self.network.steps[value];
        let dim = self.shape(value).into_iter().map(|size| Dim {
            dim_value: Some(size),
        });
        let shape = Some(TensorShape { dim: dim.collect() });
        let tensor_type = Some(TensorType { elem_type, shape });
        ValueInfo {
            name: step.name.clone(),
            r#type: Some(Type { tensor_type }),
        }
    }

    /// The dimensions of a value in ONNX's order.
    pub(super) fn shape(&self, value: Value) -> Vec<i64> {
        let shape: Vec<i64> = self
            .network
            .shape(value)
            .iter()
            .map(|size| *size as i64)
            .collect();
        match (&self.network.steps[value].op, &shape[..]) {
            (Op::Parameter { .. }, &[height, width, channels, 1]) => {
                vec![channels, 1, height, width]
            }
            (Op::Parameter { .. }, &[height, width, from, to]) => vec![to, from, height, width],
            (_, &[batch, height, width, channels]) if self.images[value] => {
                vec![batch, channels, height, width]
            }
            _ => shape,
        }
    }
}

/// A tensor with one floating-point number.
pub(super) fn float(dims: &[i64], value: f32) -> Tensor {
    let raw_data = Bytes::copy_from_slice(&value.to_le_bytes());
    Tensor {
        dims: dims.to_vec(),
        data_type: data_type::FLOAT,
        raw_data,
        ..Tensor::default()
    }
}

/// An attribute with one integer.
pub(super) fn integer(name: &str, i: i64) -> Attribute {
    Attribute {
        name: name.to_owned(),
        i,
        kind: attribute_kind::INT,
        ..Attribute::default()
    }
}

/// An attribute with several integers.
pub(super) fn list(name: &str, values: &[i64]) -> Attribute {
    let (ints, kind) = (values.to_vec(), attribute_kind::INTS);
    Attribute {
        name: name.to_owned(),
        ints,
        kind,
        ..Attribute::default()
    }
}
