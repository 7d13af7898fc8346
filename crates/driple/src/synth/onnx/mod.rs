//! Writes the forward pass of a network, up to its scores, as an ONNX model. The model resembles a
//! model that PyTorch exports without weights: parameters are inputs, and the dimensions of images
//! are batch, channels, height and width.

mod writer;

use prost::Message;
use prost::bytes::Bytes;

use self::writer::{Writer, float, integer, list};
use super::network::{Network, Op, Step, Value};
use crate::read::onnx::message::{
    Attribute, Graph, Model, OperatorSet, ValueInfo, attribute_kind, data_type,
};

/// The version of ONNX's file format.
const IR_VERSION: i64 = 8;
/// The version of ONNX's operators.
const OPERATORS: i64 = 17;

/// The bytes of the model.
pub(super) fn bytes(network: &Network) -> Vec<u8> {
    let mut writer = Writer {
        network,
        images: Vec::new(),
        graph: Graph::default(),
    };
    writer.graph.name = "forward".to_owned();
    for (value, step) in network.steps.iter().enumerate() {
        writer.images.push(is_image(step, &writer.images));
        if !is_loss(network, value) {
            writer.step(value, step);
        }
    }
    let scores = network.steps.last().map_or(0, |loss| loss.inputs[0]);
    writer
        .graph
        .output
        .push(writer.info(scores, data_type::FLOAT));
    let version = OperatorSet {
        domain: String::new(),
        version: OPERATORS,
    };
    let graph = Some(writer.graph);
    Model {
        ir_version: IR_VERSION,
        graph,
        opset_import: vec![version],
    }
    .encode_to_vec()
}

/// Whether a step is the loss or its labels, which are the last two steps.
fn is_loss(network: &Network, value: Value) -> bool {
    value + 2 >= network.steps.len()
}

/// Whether a step outputs images. `images` holds the results for all earlier steps.
fn is_image(step: &Step, images: &[bool]) -> bool {
    match step.op {
        Op::Images => true,
        Op::Reshape | Op::Mean { .. } => false,
        _ => step.inputs.first().is_some_and(|input| images[*input]),
    }
}

impl Writer<'_> {
    /// Adds the nodes of a step.
    fn step(&mut self, value: Value, step: &Step) {
        let names = step
            .inputs
            .iter()
            .map(|input| self.network.steps[*input].name.clone());
        let names: Vec<String> = names.collect();
        let x: Vec<&str> = names.iter().map(String::as_str).collect();
        let name = step.name.as_str();
        match &step.op {
            Op::Images | Op::Parameter { .. } => self.input(value, data_type::FLOAT),
            Op::Labels => self.input(value, data_type::INT64),
            Op::Conv { stride } => self.window(name, "Conv", &x, *stride, integer("group", 1)),
            Op::Depthwise { stride } => {
                let group = self.shape(value)[1];
                self.window(name, "Conv", &x, *stride, integer("group", group));
            }
            Op::MaxPool { stride } => {
                let size = list("kernel_shape", &[*stride as i64; 2]);
                self.window(name, "MaxPool", &x, *stride, size);
            }
            Op::BatchNorm => self.normalisation(step, &x),
            Op::Mean { axes, keep } => {
                // Means of images are taken only over height and width. In ONNX's order of axes,
                // the indices of these two axes are one higher.
                let shift = i64::from(self.images[step.inputs[0]]);
                let axes: Vec<i64> = axes.iter().map(|axis| *axis as i64 + shift).collect();
                let attributes = vec![list("axes", &axes), integer("keepdims", i64::from(*keep))];
                self.node(name, "ReduceMean", &x, attributes);
            }
            Op::BiasAdd => self.bias(value, step, &x),
            Op::Scale(number) => self.with_number(name, "Mul", x[0], *number),
            Op::Shift(number) => self.with_number(name, "Add", x[0], *number),
            Op::Rsqrt => {
                let root = self.node(&format!("{name}/Sqrt"), "Sqrt", &x, Vec::new());
                self.node(name, "Reciprocal", &[&root], Vec::new());
            }
            Op::Mask => self.mask(step, x[0]),
            Op::Reshape => {
                let shape = self.shape(value);
                let shape = self.integers(format!("{name}/shape"), &[shape.len() as i64], &shape);
                self.node(name, "Reshape", &[x[0], &shape], Vec::new());
            }
            Op::Transpose(order) => {
                let order: Vec<i64> = order.iter().map(|axis| *axis as i64).collect();
                self.node(name, "Transpose", &x, vec![list("perm", &order)]);
            }
            Op::BatchMatMul { transposed: true } => {
                let order = vec![list("perm", &[0, 1, 3, 2])];
                let right = self.node(&format!("{name}/perm"), "Transpose", &x[1..], order);
                self.node(name, "MatMul", &[x[0], &right], Vec::new());
            }
            Op::Softmax => {
                self.node(name, "Softmax", &x, vec![integer("axis", -1)]);
            }
            op => {
                self.node(name, plain(op), &x, Vec::new());
            }
        }
    }

    fn input(&mut self, value: Value, elem_type: i32) {
        let info = self.info(value, elem_type);
        self.graph.input.push(info);
    }

    /// Adds an operator with a sliding window. The input is padded so that the size of the output
    /// is the size of the input divided by the stride, rounded up.
    fn window(&mut self, name: &str, op: &str, x: &[&str], stride: u64, more: Attribute) {
        let auto_pad = Attribute {
            name: "auto_pad".to_owned(),
            s: Bytes::from_static(b"SAME_UPPER"),
            kind: attribute_kind::STRING,
            ..Attribute::default()
        };
        let strides = list("strides", &[stride as i64; 2]);
        self.node(name, op, x, vec![auto_pad, strides, more]);
    }

    /// Adds a batch normalisation. The moving mean and variance, which training updates, become
    /// inputs.
    fn normalisation(&mut self, step: &Step, x: &[&str]) {
        let kept = ["mean", "variance"].map(|part| format!("{}/{part}", step.name));
        for name in &kept {
            let channels = self.info(step.inputs[1], data_type::FLOAT);
            self.graph.input.push(ValueInfo {
                name: name.clone(),
                ..channels
            });
        }
        self.node(
            &step.name,
            "BatchNormalization",
            &[x, &[&kept[0], &kept[1]]].concat(),
            Vec::new(),
        );
    }

    /// Adds biases. For images, there is one bias per channel.
    fn bias(&mut self, value: Value, step: &Step, x: &[&str]) {
        let mut bias = x[1].to_owned();
        if self.images[value] {
            let axes = self.integers(format!("{}/axes", step.name), &[2], &[1, 2]);
            let name = format!("{}/Unsqueeze", step.name);
            bias = self.node(&name, "Unsqueeze", &[x[1], &axes], Vec::new());
        }
        self.node(&step.name, "Add", &[x[0], &bias], Vec::new());
    }

    fn with_number(&mut self, name: &str, op: &str, x: &str, number: f32) {
        let number = self.number(format!("{name}/y"), number);
        self.node(name, op, &[x, &number], Vec::new());
    }

    /// Adds the mask, a triangle of -1e9.
    fn mask(&mut self, step: &Step, x: &str) {
        let sizes: Vec<i64> = step
            .shape
            .iter()
            .rev()
            .take(2)
            .map(|size| *size as i64)
            .collect();
        let sizes = self.integers(format!("{}/shape", step.name), &[2], &sizes);
        let value = Attribute {
            name: "value".to_owned(),
            t: Some(Box::new(float(&[1], -1e9))),
            kind: attribute_kind::TENSOR,
            ..Attribute::default()
        };
        let name = format!("{}/all", step.name);
        let all = self.node(&name, "ConstantOfShape", &[&sizes], vec![value]);
        let first = self.integers(format!("{}/k", step.name), &[], &[1]);
        let name = format!("{}/later", step.name);
        let later = self.node(&name, "Trilu", &[&all, &first], vec![integer("upper", 1)]);
        self.node(&step.name, "Add", &[x, &later], Vec::new());
    }
}

/// ONNX's name for an operator without attributes.
fn plain(op: &Op) -> &'static str {
    match op {
        Op::Add => "Add",
        Op::Sub => "Sub",
        Op::Mul => "Mul",
        Op::Relu => "Relu",
        Op::Tanh => "Tanh",
        Op::MatMul | Op::BatchMatMul { .. } => "MatMul",
        Op::Gather => "Gather",
        _ => "Identity",
    }
}
