//! A network as the steps of its forward pass: what graphs of training, ONNX models and costs are
//! made from.

/// A step's number, which stands for the tensor that it puts out.
pub(super) type Value = usize;

/// A network: its steps in an order in which they can be taken, the loss last.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    pub(super) steps: Vec<Step>,
}

/// One operation of the forward pass. Images are of batch, height, width and channels.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Its name, one in the network.
    pub(super) name: String,
    pub(super) op: Op,
    pub(super) inputs: Vec<Value>,
    /// The dimensions of what it puts out.
    pub(super) shape: Vec<u64>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    /// Images, of floating point.
    Images,
    /// Tokens or classes, of integers.
    Labels,
    /// A tensor that training changes; at its start random, or all of one value.
    Parameter {
        /// Whether it is random.
        random: bool,
    },
    /// A convolution of an image by a kernel of height, width, channels in and out, padded so that
    /// the size is that of the input by the stride.
    Conv {
        /// The stride in both directions.
        stride: u64,
    },
    /// A convolution of each channel by itself.
    Depthwise {
        /// The stride in both directions.
        stride: u64,
    },
    /// Normalisation over a batch of images, with a scale and an offset.
    BatchNorm,
    /// The largest values of windows, as wide as they are apart.
    MaxPool {
        /// The stride in both directions.
        stride: u64,
    },
    /// The mean over some axes.
    Mean {
        /// The axes, ascending.
        axes: Vec<usize>,
        /// Whether the axes stay, with one element.
        keep: bool,
    },
    /// The addition of a vector to all along the last axis.
    BiasAdd,
    /// Sums, of shapes that fit by broadcasting.
    Add,
    /// Differences, likewise.
    Sub,
    /// Products, likewise.
    Mul,
    /// The positive part.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// One by the square root.
    Rsqrt,
    /// The product with a number.
    Scale(f32),
    /// The sum with a number.
    Shift(f32),
    /// The addition of -1e9 wherever a token would see a later one.
    Mask,
    /// Other dimensions.
    Reshape,
    /// The axes in another order.
    Transpose(Vec<usize>),
    /// The product of two matrices.
    MatMul,
    /// The products of matrices, those on the right transposed or not.
    BatchMatMul {
        /// Whether they are transposed.
        transposed: bool,
    },
    /// The softmax along the last axis.
    Softmax,
    /// The rows of a matrix by number.
    Gather,
    /// The mean cross entropy of scores and classes.
    Loss,
}

impl Network {
    /// The dimensions of a tensor.
    pub(super) fn shape(&self, value: Value) -> &[u64] {
        &self.steps[value].shape
    }

    /// Whether training computes a gradient of it.
    pub(super) fn is_trained(&self, value: Value) -> bool {
        !matches!(self.steps[value].op, Op::Images | Op::Labels)
    }

    /// The parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (Value, &Step)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| matches!(step.op, Op::Parameter { .. }))
    }

    /// Adds a step.
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

    /// A parameter that is random at the start.
    pub(super) fn random(&mut self, name: &str, shape: &[u64]) -> Value {
        self.add(name, Op::Parameter { random: true }, &[], shape)
    }

    /// A parameter that is all of one value at the start.
    pub(super) fn constant(&mut self, name: &str, shape: &[u64]) -> Value {
        self.add(name, Op::Parameter { random: false }, &[], shape)
    }

    /// A step that leaves the shape as it is.
    pub(super) fn each(&mut self, name: &str, op: Op, x: Value) -> Value {
        let shape = self.shape(x).to_vec();
        self.add(name, op, &[x], &shape)
    }

    /// A step on two tensors, of which `x` has the shape that they have together.
    pub(super) fn both(&mut self, name: &str, op: Op, x: Value, y: Value) -> Value {
        let shape = self.shape(x).to_vec();
        self.add(name, op, &[x, y], &shape)
    }

    /// Other dimensions.
    pub(super) fn reshape(&mut self, name: &str, x: Value, shape: &[u64]) -> Value {
        self.add(name, Op::Reshape, &[x], shape)
    }

    /// The axes in another order.
    pub(super) fn transpose(&mut self, name: &str, x: Value, order: &[usize]) -> Value {
        let shape: Vec<u64> = order.iter().map(|axis| self.shape(x)[*axis]).collect();
        self.add(name, Op::Transpose(order.to_vec()), &[x], &shape)
    }

    /// The mean over some axes.
    pub(super) fn mean(&mut self, name: &str, x: Value, axes: &[usize], keep: bool) -> Value {
        let sizes = self.shape(x).iter().enumerate();
        let kept = sizes.filter(|(axis, _)| keep || !axes.contains(axis));
        let size = |(axis, size): (usize, &u64)| if axes.contains(&axis) { 1 } else { *size };
        let shape: Vec<u64> = kept.map(size).collect();
        let axes = axes.to_vec();
        self.add(name, Op::Mean { axes, keep }, &[x], &shape)
    }

    /// A dense layer on a matrix, with biases.
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

    /// Biases along the last axis.
    pub(super) fn bias(&mut self, name: &str, x: Value) -> Value {
        let width = self.shape(x)[self.shape(x).len() - 1];
        let bias = self.constant(&format!("{name}/bias"), &[width]);
        self.both(&format!("{name}/BiasAdd"), Op::BiasAdd, x, bias)
    }

    /// The mean cross entropy of scores, a matrix, and new labels.
    pub(super) fn loss(&mut self, scores: Value) -> Value {
        let labels = self.add("labels", Op::Labels, &[], &[self.shape(scores)[0]]);
        self.add("loss/xentropy", Op::Loss, &[scores, labels], &[])
    }
}
