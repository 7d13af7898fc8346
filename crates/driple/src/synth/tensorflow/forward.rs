//! Writes the forward pass.

use super::nodes::{Holds, Kind, Nodes};
use super::{input, variables};
use crate::synth::network::{Network, Op, Step};

/// Adds the forward pass. Returns the name of each step's tensor.
pub(super) fn write(network: &Network, nodes: &mut Nodes) -> Vec<String> {
    let fed = |step: &&Step| matches!(step.op, Op::Images | Op::Labels);
    let fed: Vec<_> = (network.steps.iter().filter(fed))
        .map(|step| {
            let kind = if step.op == Op::Images {
                Kind::Float
            } else {
                Kind::Integer
            };
            (step.name.as_str(), kind, step.shape.as_slice())
        })
        .collect();
    let mut fed = input::write(&fed, nodes).into_iter();
    let mut tensors: Vec<String> = Vec::with_capacity(network.steps.len());
    for step in &network.steps {
        let tensor = match &step.op {
            Op::Images | Op::Labels => fed.next().unwrap_or_default(),
            Op::Parameter { .. } => variables::parameter(step, nodes),
            _ => {
                let inputs: Vec<&str> = step
                    .inputs
                    .iter()
                    .map(|value| tensors[*value].as_str())
                    .collect();
                self::step(network, step, &inputs, nodes)
            }
        };
        tensors.push(tensor);
    }
    tensors
}

/// Adds a step. Returns the name of its tensor.
fn step(network: &Network, step: &Step, inputs: &[&str], nodes: &mut Nodes) -> String {
    let (name, shape) = (step.name.as_str(), step.shape.as_slice());
    match &step.op {
        Op::Conv { stride } | Op::Depthwise { stride } => {
            let window = Holds::Window {
                stride: *stride,
                size: None,
            };
            nodes.window(name, kind(&step.op), inputs, shape, window)
        }
        Op::MaxPool { stride } => {
            let window = Holds::Window {
                stride: *stride,
                size: Some(*stride),
            };
            nodes.window(name, "MaxPool", inputs, shape, window)
        }
        Op::BatchNorm => {
            let mean = nodes.constant(&format!("{name}/Const"), &[0], 0.0);
            let inputs = [inputs, &[&mean, &mean]].concat();
            let channels = network.shape(step.inputs[1]);
            let shapes = [shape, channels, channels, channels, channels];
            nodes.floats(name, "FusedBatchNorm", &inputs, &shapes)
        }
        Op::Scale(factor) => with_number(name, "Mul", inputs[0], *factor, shape, nodes),
        Op::Shift(term) => with_number(name, "Add", inputs[0], *term, shape, nodes),
        Op::Mask => {
            let tokens = &shape[shape.len() - 2..];
            let mask = nodes.constant(&format!("{name}/y"), tokens, -1e9);
            nodes.float(name, "Add", &[inputs[0], &mask], shape)
        }
        Op::Mean { axes, .. } => {
            let axes: Vec<u64> = axes.iter().map(|axis| *axis as u64).collect();
            let axes = nodes.sizes(&format!("{name}/reduction_indices"), &axes);
            nodes.float(name, "Mean", &[inputs[0], &axes], shape)
        }
        Op::Reshape => {
            let sizes = nodes.sizes(&format!("{name}/shape"), shape);
            nodes.float(name, "Reshape", &[inputs[0], &sizes], shape)
        }
        Op::Transpose(order) => {
            let order: Vec<u64> = order.iter().map(|axis| *axis as u64).collect();
            let order = nodes.sizes(&format!("{name}/perm"), &order);
            nodes.float(name, "Transpose", &[inputs[0], &order], shape)
        }
        Op::Loss => loss(network, step, inputs, nodes),
        op => nodes.float(name, kind(op), inputs, shape),
    }
}

/// TensorFlow's operation type for a step.
fn kind(op: &Op) -> &'static str {
    match op {
        Op::Conv { .. } => "Conv2D",
        Op::Depthwise { .. } => "DepthwiseConv2dNative",
        Op::BiasAdd => "BiasAdd",
        Op::Add => "Add",
        Op::Sub => "Sub",
        Op::Mul => "Mul",
        Op::Relu => "Relu",
        Op::Tanh => "Tanh",
        Op::Rsqrt => "Rsqrt",
        Op::MatMul => "MatMul",
        Op::BatchMatMul { .. } => "BatchMatMul",
        Op::Softmax => "Softmax",
        Op::Gather => "Gather",
        _ => "Identity",
    }
}

/// Adds an operation on a tensor and a constant number.
fn with_number(
    name: &str,
    op: &str,
    x: &str,
    number: f32,
    shape: &[u64],
    nodes: &mut Nodes,
) -> String {
    let number = nodes.constant(&format!("{name}/y"), &[], number);
    nodes.float(name, op, &[x, &number], shape)
}

/// Adds the cross entropy of each row, and its mean.
fn loss(network: &Network, step: &Step, inputs: &[&str], nodes: &mut Nodes) -> String {
    let scores = network.shape(step.inputs[0]);
    let rows = &scores[..1];
    let op = "SparseSoftmaxCrossEntropyWithLogits";
    let each = nodes.floats(&step.name, op, inputs, &[rows, scores]);
    let axes = nodes.sizes("loss/Const", &[0]);
    nodes.float("loss/Mean", "Mean", &[&each, &axes], &[])
}
