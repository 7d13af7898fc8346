//! The cost of a training step of a network.

use super::network::{Network, Op, Step};

/// The size of a floating-point number, in bytes.
const BYTES: f64 = 4.0;

/// The cost of a training step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// The number of floating-point operations.
    pub(super) operations: f64,
    /// The number of bytes that move between the GPU and its memory.
    pub(super) moved: f64,
    /// The number of operations of the graph that run on the GPU.
    pub(super) kernels: f64,
    /// The number of bytes of parameters that a worker fetches.
    pub(super) fetched: f64,
    /// The number of bytes of gradients that a worker sends.
    pub(super) sent: f64,
}

impl Cost {
    /// The cost of a training step of `network`. `kernels` is the number of operations of its
    /// graph that run on the GPU. `tensors` is the number of tensors that the optimiser keeps per
    /// parameter, including the parameter itself.
    pub(super) fn of(network: &Network, kernels: usize, tensors: u64) -> Self {
        let forward: f64 = network
            .steps
            .iter()
            .map(|step| operations(network, step))
            .sum();
        let outputs = network
            .steps
            .iter()
            .filter(|step| !matches!(step.op, Op::Parameter { .. }));
        let outputs: f64 = outputs.map(elements).sum();
        let parameters: f64 = network.parameters().map(|(_, step)| elements(step)).sum();
        let sparse: f64 = network
            .steps
            .iter()
            .map(|step| not_taken(network, step))
            .sum();
        Self {
            operations: 3.0 * forward,
            moved: BYTES * (4.0 * outputs + parameters * (1 + tensors) as f64),
            kernels: kernels as f64,
            fetched: BYTES * parameters,
            sent: BYTES * (parameters - sparse),
        }
    }
}

fn elements(step: &Step) -> f64 {
    product(&step.shape)
}

fn product(shape: &[u64]) -> f64 {
    shape.iter().map(|size| *size as f64).product()
}

/// The number of floating-point operations of a step. An addition counts as one operation, and so
/// does a multiplication.
fn operations(network: &Network, step: &Step) -> f64 {
    let inner = |input: usize, axes: &[usize]| -> f64 {
        let shape = network.shape(step.inputs[input]);
        axes.iter().map(|axis| shape[*axis] as f64).product()
    };
    let each = match step.op {
        Op::Images | Op::Labels | Op::Parameter { .. } | Op::Reshape => 0.0,
        Op::Conv { .. } => 2.0 * inner(1, &[0, 1, 2]),
        Op::Depthwise { .. } => 2.0 * inner(1, &[0, 1]),
        Op::MatMul => 2.0 * inner(0, &[1]),
        Op::BatchMatMul { .. } => 2.0 * inner(0, &[3]),
        _ => 1.0,
    };
    each * elements(step)
}

/// A lower bound on the number of table elements that a step does not use. A step that selects rows
/// of a table uses only these rows.
fn not_taken(network: &Network, step: &Step) -> f64 {
    match step.op {
        Op::Gather => (product(network.shape(step.inputs[0])) - elements(step)).max(0.0),
        _ => 0.0,
    }
}
