//! A network as the steps of its forward pass. Training graphs, ONNX models and costs are derived
//! from these steps.

/// The index of a step, which identifies the step's output tensor.
pub(super) type Value = usize;

/// A network. Its steps are in an order in which they can be executed, with the loss last.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    pub(super) steps: Vec<Step>,
}

/// One operation of the forward pass. The dimensions of images are batch, height, width and
/// channels.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The step's name, unique in the network.
    pub(super) name: String,
    pub(super) op: Op,
    pub(super) inputs: Vec<Value>,
    /// The dimensions of the step's output.
    pub(super) shape: Vec<u64>,
}

/// The operation of a step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    /// Images of floating-point numbers.
    Images,
    /// Tokens or classes, as integers.
    Labels,
    /// A tensor that training updates. Its initial values are either random or all the same.
    Parameter {
        /// Whether the initial values are random.
        random: bool,
    },
    /// A convolution of an image. The dimensions of the kernel are height, width, input channels
    /// and output channels. The image is padded so that the size of the output is the size of the
    /// input divided by the stride, rounded up.
    Conv {
        /// The stride in both directions.
        stride: u64,
    },
    /// A depthwise convolution, which treats each channel separately.
    Depthwise {
        /// The stride in both directions.
        stride: u64,
    },
    /// Batch normalisation of images, with a scale and an offset.
    BatchNorm,
    /// Max pooling over windows of the same size as the stride.
    MaxPool {
        /// The stride in both directions.
        stride: u64,
    },
    /// The mean over some axes.
    Mean {
        /// The axes, in ascending order.
        axes: Vec<usize>,
        /// Whether these axes are kept as dimensions of size 1.
        keep: bool,
    },
    /// Adds a vector along the last axis.
    BiasAdd,
    /// A sum. The shapes are broadcast.
    Add,
    /// A difference. The shapes are broadcast.
    Sub,
    /// A product, element by element. The shapes are broadcast.
    Mul,
    /// The rectifier: each element, or 0 if it is negative.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// One divided by the square root of each element.
    Rsqrt,
    /// Each element multiplied by a number.
    Scale(f32),
    /// Each element plus a number.
    Shift(f32),
    /// Adds -1e9 wherever a token would attend to a later token.
    Mask,
    /// The same elements with different dimensions.
    Reshape,
    /// The axes in another order.
    Transpose(Vec<usize>),
    /// The product of two matrices.
    MatMul,
    /// The products of pairs of matrices.
    BatchMatMul {
        /// Whether the matrices on the right are transposed.
        transposed: bool,
    },
    /// The softmax over the last axis.
    Softmax,
    /// Rows of a matrix, selected by index.
    Gather,
    /// The mean cross entropy of scores and classes.
    Loss,
}

impl Network {
    /// The dimensions of a tensor.
    pub(super) fn shape(&self, value: Value) -> &[u64] {
        &self.steps[value].shape
    }

    /// Whether training computes a gradient of a tensor.
    pub(super) fn is_trained(&self, value: Value) -> bool {
        !matches!(self.steps[value].op, Op::Images | Op::Labels)
    }

    /// All parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (Value, &Step)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| matches!(step.op, Op::Parameter { .. }))
    }

    /// Adds a step. Returns its index.
    pub(super) fn add(&mut self, name: &str, op: Op, inputs: &[Value], shape: &[u64]) -> Value {
        let (name, inputs, shape) = (name.to_owned(), inputs.to_vec(), shape.to_vec());
        self.steps.push(Step {
            name,
            op,
            inputs,
            shape,
        });
        self.steps.len() - 1
    }

    /// Adds a parameter with random initial values.
    pub(super) fn random(&mut self, name: &str, shape: &[u64]) -> Value {
        self.add(name, Op::Parameter { random: true }, &[], shape)
    }

    /// Adds a parameter whose initial values are all the same.
    pub(super) fn constant(&mut self, name: &str, shape: &[u64]) -> Value {
        self.add(name, Op::Parameter { random: false }, &[], shape)
    }

    /// Adds a step that keeps the shape of its input.
    pub(super) fn each(&mut self, name: &str, op: Op, x: Value) -> Value {
        let shape = self.shape(x).to_vec();
        self.add(name, op, &[x], &shape)
    }

    /// Adds a step that combines two tensors. The output has the shape of `x`.
    pub(super) fn both(&mut self, name: &str, op: Op, x: Value, y: Value) -> Value {
        let shape = self.shape(x).to_vec();
        self.add(name, op, &[x, y], &shape)
    }

    /// Adds a step that changes a tensor's dimensions and keeps its elements.
    pub(super) fn reshape(&mut self, name: &str, x: Value, shape: &[u64]) -> Value {
        self.add(name, Op::Reshape, &[x], shape)
    }

    /// Adds a step that puts the axes in another order.
    pub(super) fn transpose(&mut self, name: &str, x: Value, order: &[usize]) -> Value {
        let shape: Vec<u64> = order.iter().map(|axis| self.shape(x)[*axis]).collect();
        self.add(name, Op::Transpose(order.to_vec()), &[x], &shape)
    }

    /// Adds the mean over some axes.
    pub(super) fn mean(&mut self, name: &str, x: Value, axes: &[usize], keep: bool) -> Value {
        let sizes = self.shape(x).iter().enumerate();
        let kept = sizes.filter(|(axis, _)| keep || !axes.contains(axis));
        let size = |(axis, size): (usize, &u64)| if axes.contains(&axis) { 1 } else { *size };
        let shape: Vec<u64> = kept.map(size).collect();
        let axes = axes.to_vec();
        self.add(name, Op::Mean { axes, keep }, &[x], &shape)
    }

    /// Adds a dense layer with biases, whose input is a matrix.
    pub(super) fn dense(&mut self, name: &str, x: Value, units: u64) -> Value {
        let (rows, width) = (self.shape(x)[0], self.shape(x)[1]);
        let kernel = self.random(&format!("{name}/kernel"), &[width, units]);
        let y = self.add(
            &format!("{name}/MatMul"),
            Op::MatMul,
            &[x, kernel],
            &[rows, units],
        );
        self.bias(name, y)
    }

    /// Adds biases along the last axis.
    pub(super) fn bias(&mut self, name: &str, x: Value) -> Value {
        let width = self.shape(x)[self.shape(x).len() - 1];
        let bias = self.constant(&format!("{name}/bias"), &[width]);
        self.both(&format!("{name}/BiasAdd"), Op::BiasAdd, x, bias)
    }

    /// Adds labels, and the mean cross entropy of the labels and the matrix `scores`.
    pub(super) fn loss(&mut self, scores: Value) -> Value {
        let labels = self.add("labels", Op::Labels, &[], &[self.shape(scores)[0]]);
        self.add("loss/xentropy", Op::Loss, &[scores, labels], &[])
    }
}
