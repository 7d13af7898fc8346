//! The backward pass, with the operations by which `tf.gradients` computes it.

use super::nodes::{Holds, Nodes};
use crate::synth::network::{Network, Op, Step, Value};

/// Adds the gradients and gives the name of each step's, empty where there is none.
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

/// The sum of what all users of a tensor contribute to its gradient.
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

/// A step whose gradient is on its way to the step's inputs.
struct Backward<'b> {
    network: &'b Network,
    tensors: &'b [String],
    step: &'b Step,
    output: Value,
    nodes: &'b mut Nodes,
}

impl Backward<'_> {
    /// A name within those of the step's gradient.
    fn name(&self, part: &str) -> String {
        format!("gradients/{}_grad/{part}", self.step.name)
    }

    /// The tensor of an input.
    fn input(&self, index: usize) -> &str {
        &self.tensors[self.step.inputs[index]]
    }

    /// The shape of an input.
    fn shape(&self, index: usize) -> Vec<u64> {
        self.network.shape(self.step.inputs[index]).to_vec()
    }

    /// Adds an operation with the shape of an input.
    fn like(&mut self, index: usize, part: &str, op: &str, inputs: &[&str]) -> String {
        let (name, shape) = (self.name(part), self.shape(index));
        self.nodes.float(&name, op, inputs, &shape)
    }

    /// The sizes of an input's dimensions, as a tensor.
    fn sizes(&mut self, index: usize, part: &str) -> String {
        let (name, tensor) = (self.name(part), self.input(index).to_owned());
        let rank = self.shape(index).len() as u64;
        self.nodes.integers(&name, "Shape", &[&tensor], &[rank])
    }

    /// The gradients of the step's inputs.
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

    /// Makes gradients of several inputs wait for each other, as TensorFlow does.
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

    fn convolution(&mut self, op: &str, stride: u64, gradient: &str) -> Vec<String> {
        let (x, kernel) = (self.input(0).to_owned(), self.input(1).to_owned());
        let name = self.name("ShapeN");
        let sizes = self
            .nodes
            .integers(&name, "ShapeN", &[&x, &kernel], &[4, 4]);
        let of_kernel = format!("{sizes}:1");
        let sides = [
            ("BackpropInput", [&sizes, &kernel]),
            ("BackpropFilter", [&x, &of_kernel]),
        ];
        let mut parts = Vec::new();
        for (index, (side, [first, second])) in sides.into_iter().enumerate() {
            if !self.network.is_trained(self.step.inputs[index]) {
                continue;
            }
            let op = format!("{op}{side}");
            let (name, shape) = (self.name(&op), self.shape(index));
            let window = Holds::Window { stride, size: None };
            let inputs = [first.as_str(), second, gradient];
            parts.push((
                index,
                self.nodes.window(&name, &op, &inputs, &shape, window),
            ));
        }
        match <[_; 2]>::try_from(parts) {
            Ok(both) => self.together(&both.map(|(_, part)| part)),
            // Of the first convolution, whose input is not trained.
            Err(one) => vec![
                String::new(),
                one.into_iter().map(|(_, part)| part).collect(),
            ],
        }
    }

    /// The gradients of the tensor, scale and offset of a normalisation.
    fn normalisation(&mut self, gradient: &str) -> Vec<String> {
        let (x, scale) = (self.input(0).to_owned(), self.input(1).to_owned());
        let saved = [3, 4].map(|output| format!("{}:{output}", self.step.name));
        let (name, whole, channels) = (
            self.name("FusedBatchNormGrad"),
            self.shape(0),
            self.shape(1),
        );
        let inputs = [gradient, &x, &scale, &saved[0], &saved[1]];
        let shapes = [whole.as_slice(), &channels, &channels, &[0], &[0]];
        let all = self
            .nodes
            .floats(&name, "FusedBatchNormGrad", &inputs, &shapes);
        let wait = self.name("tuple/group_deps");
        let wait = format!(
            "^{}",
            self.nodes.effect(&wait, "NoOp", &[&format!("^{all}")])
        );
        let mut part = |index: usize, input: &str| {
            let name = format!("tuple/control_dependency_{index}");
            self.like(index, &name, "Identity", &[input, &wait])
        };
        vec![
            part(0, &all),
            part(1, &format!("{all}:1")),
            part(2, &format!("{all}:2")),
        ]
    }

    /// The gradient in each element that the mean was over, by their number.
    fn mean(&mut self, gradient: &str) -> Vec<String> {
        let whole = self.shape(0);
        let kept: Vec<u64> = match &self.step.op {
            Op::Mean { axes, .. } => {
                let size = |(axis, size)| if axes.contains(&axis) { 1 } else { size };
                whole.iter().copied().enumerate().map(size).collect()
            }
            _ => whole.clone(),
        };
        let sizes = self.sizes(0, "Shape");
        let (name, rank) = (self.name("DynamicStitch"), whole.len() as u64);
        let stitched = self
            .nodes
            .integers(&name, "DynamicStitch", &[&sizes], &[rank]);
        let name = self.name("floordiv");
        let times = self
            .nodes
            .integers(&name, "FloorDiv", &[&sizes, &stitched], &[rank]);
        let name = self.name("Reshape");
        let narrow = self
            .nodes
            .float(&name, "Reshape", &[gradient, &stitched], &kept);
        let wide = self.like(0, "Tile", "Tile", &[&narrow, &times]);
        let count: u64 = whole.iter().product::<u64>() / kept.iter().product::<u64>().max(1);
        let name = self.name("Const");
        let count = self.nodes.constant(&name, &[], count as f32);
        vec![self.like(0, "truediv", "RealDiv", &[&wide, &count])]
    }

    fn bias(&mut self, gradient: &str) -> Vec<String> {
        let bias = self.like(1, "BiasAddGrad", "BiasAddGrad", &[gradient]);
        self.together(&[gradient.to_owned(), bias])
    }

    /// The gradients of two tensors that were broadcast: each summed over where it was repeated.
    fn broadcast(&mut self, gradient: &str) -> Vec<String> {
        let sizes = [self.sizes(0, "Shape"), self.sizes(1, "Shape_1")];
        let (name, rank) = (
            self.name("BroadcastGradientArgs"),
            self.step.shape.len() as u64,
        );
        let inputs = [sizes[0].as_str(), &sizes[1]];
        let axes = self
            .nodes
            .integers(&name, "BroadcastGradientArgs", &inputs, &[rank, rank]);
        let axes = [axes.clone(), format!("{axes}:1")];
        let mut parts = Vec::new();
        for (index, suffix) in ["", "_1"].into_iter().enumerate() {
            let whole = self.step.shape.clone();
            let factor = match self.step.op {
                Op::Mul => {
                    let (name, other) = (
                        self.name(&format!("Mul{suffix}")),
                        self.input(1 - index).to_owned(),
                    );
                    self.nodes.float(&name, "Mul", &[gradient, &other], &whole)
                }
                _ => gradient.to_owned(),
            };
            let sum = self.like(
                index,
                &format!("Sum{suffix}"),
                "Sum",
                &[&factor, &axes[index]],
            );
            let sum = match (&self.step.op, index) {
                (Op::Sub, 1) => self.like(1, "Neg", "Neg", &[&sum]),
                _ => sum,
            };
            let part = format!("Reshape{suffix}");
            parts.push(self.like(index, &part, "Reshape", &[&sum, &sizes[index]]));
        }
        self.together(&parts)
    }

    fn transpose(&mut self, gradient: &str, rank: usize) -> Vec<String> {
        let (name, order) = (
            self.name("InvertPermutation"),
            format!("{}/perm", self.step.name),
        );
        let back = self
            .nodes
            .integers(&name, "InvertPermutation", &[&order], &[rank as u64]);
        vec![self.like(0, "transpose", "Transpose", &[gradient, &back])]
    }

    fn product(&mut self, gradient: &str) -> Vec<String> {
        let op = if self.step.op == Op::MatMul {
            "MatMul"
        } else {
            "BatchMatMul"
        };
        let (a, b) = (self.input(0).to_owned(), self.input(1).to_owned());
        let left = self.like(0, op, op, &[gradient, &b]);
        let right = self.like(1, &format!("{op}_1"), op, &[&a, gradient]);
        self.together(&[left, right])
    }

    fn softmax(&mut self, gradient: &str, y: &str) -> Vec<String> {
        let mut summed = self.shape(0);
        if let Some(last) = summed.last_mut() {
            *last = 1;
        }
        let product = self.like(0, "mul", "Mul", &[gradient, y]);
        let name = self.name("Sum/reduction_indices");
        let axes = self.nodes.sizes(&name, &[summed.len() as u64 - 1]);
        let name = self.name("Sum");
        let sum = self.nodes.float(&name, "Sum", &[&product, &axes], &summed);
        let centred = self.like(0, "sub", "Sub", &[gradient, &sum]);
        vec![self.like(0, "mul_1", "Mul", &[&centred, y])]
    }

    /// The gradient of a table, from those of the rows that were taken from it.
    fn rows(&mut self, gradient: &str) -> Vec<String> {
        let (table, tokens) = (self.shape(0), self.shape(1));
        let count: u64 = tokens.iter().product();
        let flat = self.name("Reshape/shape");
        let flat = self.nodes.sizes(&flat, &[count, table[1]]);
        let name = self.name("Reshape");
        let flat = self
            .nodes
            .float(&name, "Reshape", &[gradient, &flat], &[count, table[1]]);
        let (name, numbers) = (self.name("Reshape_1"), self.input(1).to_owned());
        let numbers = self.nodes.integers(&name, "Reshape", &[&numbers], &[count]);
        vec![self.like(
            0,
            "UnsortedSegmentSum",
            "UnsortedSegmentSum",
            &[&flat, &numbers],
        )]
    }

    /// The gradient of scores, which the cross entropy has put out already.
    fn loss(&mut self, gradient: &str) -> Vec<String> {
        let rows = self.shape(1);
        let name = self.name("Tile");
        let each = self
            .nodes
            .float(&name, "Tile", &[gradient, "loss/Const"], &rows);
        let name = self.name("ExpandDims");
        let each = self
            .nodes
            .float(&name, "ExpandDims", &[&each], &[rows[0], 1]);
        let scores = format!("{}:1", self.step.name);
        let scores = self.like(0, "PreventGradient", "PreventGradient", &[&scores]);
        vec![self.like(0, "mul", "Mul", &[&each, &scores]), String::new()]
    }
}
