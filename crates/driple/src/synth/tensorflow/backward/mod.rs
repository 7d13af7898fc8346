//! Writes the backward pass, with the operations that `tf.gradients` uses.

mod elements;
mod matrices;
mod windows;

use super::nodes::{Holds, Nodes};
use crate::synth::network::{Network, Op, Step, Value};

/// Adds the gradients. Returns the name of each step's gradient, which is empty if the step has
/// none.
pub(super) fn write(network: &Network, tensors: &[String], nodes: &mut Nodes) -> Vec<String> {
    let count = network.steps.len();
    let mut parts: Vec<Vec<String>> = vec![Vec::new(); count];
    let mut gradients = vec![String::new(); count];
    let one = nodes.constant("gradients/grad_ys_0", &[], 1.0);
    let shape = nodes.sizes("gradients/Shape", &[]);
    parts[count - 1].push(nodes.float("gradients/Fill", "Fill", &[&shape, &one], &[]));
    for (value, step) in network.steps.iter().enumerate().rev() {
        let parts_here = std::mem::take(&mut parts[value]);
        let Some(gradient) = sum(step, parts_here, nodes) else {
            continue;
        };
        let mut backward = Backward {
            network,
            tensors,
            step,
            output: value,
            nodes,
        };
        let inputs = backward.inputs(&gradient);
        for (input, part) in step.inputs.iter().zip(inputs) {
            if network.is_trained(*input) {
                parts[*input].push(part);
            }
        }
        gradients[value] = gradient;
    }
    gradients
}

/// Adds the gradient of a step's output: the sum of `parts`, the gradients from all steps that use
/// this output. Returns `None` if there are no parts.
fn sum(step: &Step, parts: Vec<String>, nodes: &mut Nodes) -> Option<String> {
    if parts.len() < 2 {
        return parts.into_iter().next();
    }
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Some(nodes.float(
        &format!("gradients/{}_grad/AddN", step.name),
        "AddN",
        &parts,
        &step.shape,
    ))
}

/// A step whose inputs' gradients are being computed.
struct Backward<'b> {
    network: &'b Network,
    tensors: &'b [String],
    step: &'b Step,
    output: Value,
    nodes: &'b mut Nodes,
}

impl Backward<'_> {
    /// The name of an operation in the step's gradient.
    fn name(&self, part: &str) -> String {
        format!("gradients/{}_grad/{part}", self.step.name)
    }

    /// The name of an input's tensor.
    fn input(&self, index: usize) -> &str {
        &self.tensors[self.step.inputs[index]]
    }

    /// The shape of an input.
    fn shape(&self, index: usize) -> Vec<u64> {
        self.network.shape(self.step.inputs[index]).to_vec()
    }

    /// Adds an operation whose output has the shape of an input.
    fn like(&mut self, index: usize, part: &str, op: &str, inputs: &[&str]) -> String {
        let (name, shape) = (self.name(part), self.shape(index));
        self.nodes.float(&name, op, inputs, &shape)
    }

    /// Adds the sizes of an input's dimensions as a tensor.
    fn sizes(&mut self, index: usize, part: &str) -> String {
        let (name, tensor) = (self.name(part), self.input(index).to_owned());
        let rank = self.shape(index).len() as u64;
        self.nodes.integers(&name, "Shape", &[&tensor], &[rank])
    }

    /// Adds the gradients of the step's inputs. Returns their names.
    fn inputs(&mut self, gradient: &str) -> Vec<String> {
        let y = self.tensors[self.output].clone();
        match self.step.op.clone() {
            Op::Images | Op::Labels | Op::Parameter { .. } => Vec::new(),
            Op::Conv { stride } => self.convolution("Conv2D", stride, gradient),
            Op::Depthwise { stride } => self.convolution("DepthwiseConv2dNative", stride, gradient),
            Op::BatchNorm => self.normalisation(gradient),
            Op::MaxPool { stride } => {
                let (name, shape, x) = (
                    self.name("MaxPoolGrad"),
                    self.shape(0),
                    self.input(0).to_owned(),
                );
                let window = Holds::Window {
                    stride,
                    size: Some(stride),
                };
                vec![
                    self.nodes
                        .window(&name, "MaxPoolGrad", &[&x, &y, gradient], &shape, window),
                ]
            }
            Op::Mean { .. } => self.mean(gradient),
            Op::BiasAdd => self.bias(gradient),
            Op::Add | Op::Sub | Op::Mul => self.broadcast(gradient),
            Op::Relu => vec![self.like(0, "ReluGrad", "ReluGrad", &[gradient, &y])],
            Op::Tanh => vec![self.like(0, "TanhGrad", "TanhGrad", &[&y, gradient])],
            Op::Rsqrt => vec![self.like(0, "RsqrtGrad", "RsqrtGrad", &[&y, gradient])],
            Op::Scale(_) => {
                let factor = format!("{}/y", self.step.name);
                vec![self.like(0, "Mul", "Mul", &[gradient, &factor])]
            }
            Op::Shift(_) | Op::Mask => vec![self.like(0, "Identity", "Identity", &[gradient])],
            Op::Reshape => {
                let sizes = self.sizes(0, "Shape");
                vec![self.like(0, "Reshape", "Reshape", &[gradient, &sizes])]
            }
            Op::Transpose(order) => self.transpose(gradient, order.len()),
            Op::MatMul | Op::BatchMatMul { .. } => self.product(gradient),
            Op::Softmax => self.softmax(gradient, &y),
            Op::Gather => self.rows(gradient),
            Op::Loss => self.loss(gradient),
        }
    }

    /// Adds control dependencies that make the gradients of several inputs wait for each other, as
    /// TensorFlow does.
    fn together(&mut self, parts: &[String]) -> Vec<String> {
        let waits: Vec<String> = parts.iter().map(|part| format!("^{part}")).collect();
        let waits: Vec<&str> = waits.iter().map(String::as_str).collect();
        let all = self.name("tuple/group_deps");
        let all = format!("^{}", self.nodes.effect(&all, "NoOp", &waits));
        let after = |(index, part): (usize, &String)| {
            let name = match index {
                0 => "tuple/control_dependency".to_owned(),
                index => format!("tuple/control_dependency_{index}"),
            };
            self.like(index, &name, "Identity", &[part, &all])
        };
        parts.iter().enumerate().map(after).collect()
    }
}
