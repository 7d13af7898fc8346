//! The Set2Set readout (Vinyals et al. 2016), which turns the states of a graph's nodes into one
//! vector that does not depend on the order of the nodes.

use ndarray::{Array2, s};

use super::super::block::Block;
use super::super::kernels::{add_row_sum, axpy, dot, row, row_mut, rows, rows_mut, vectorised};
use super::super::product::{add_product, product};
use super::super::tape::{Flow, Op};
use super::super::{ParamId, Parameters, Real, Tape, Var};

/// The parameters of a long short-term memory, as in PyTorch's `LSTM`. Its state has width `H`, and
/// its input is twice as wide. The gates are in the order input, forget, cell, output.
#[derive(Debug, Clone, Copy)]
pub struct Lstm {
    /// The weights for the input, `4 H x 2 H`.
    pub input_weight: ParamId,
    /// The weights for the hidden state, `4 H x H`.
    pub hidden_weight: ParamId,
    /// The biases for the input, `4 H`.
    pub input_bias: ParamId,
    /// The biases for the hidden state, `4 H`.
    pub hidden_bias: ParamId,
}

impl Lstm {
    fn all(&self) -> [ParamId; 4] {
        [
            self.input_weight,
            self.hidden_weight,
            self.input_bias,
            self.hidden_bias,
        ]
    }

    /// The weights for the query and the reading in one matrix, `4 H x 2 H`. The hidden state is the query, which is
    /// also the first half of the input. The two weight matrices of the query can therefore be added, and one product
    /// is enough.
    fn weight<T: Real>(&self, parameters: &Parameters<T>) -> Array2<T> {
        let mut weight = parameters[self.input_weight].clone();
        let hidden = &parameters[self.hidden_weight];
        let mut query = weight.slice_mut(s![.., ..hidden.ncols()]);
        query += hidden;
        weight
    }
}

/// The values of one step that the backward pass needs. Each matrix has one row for each graph.
struct Step<T> {
    /// The query and the reading before the step.
    before: Array2<T>,
    /// The gates: input, forget, cell, output.
    gates: Array2<T>,
    /// The cell before the step.
    cell: Array2<T>,
    /// The hyperbolic tangent of the cell after the step.
    bounded: Array2<T>,
    /// The attention to each node.
    attention: Array2<T>,
}

struct Set2Set<'a, T> {
    lstm: Lstm,
    input: Var,
    output: Var,
    block: &'a Block<T>,
    steps: Vec<Step<T>>,
}

impl<'a, T: Real> Tape<'a, T> {
    /// Applies the readout of Vinyals et al. 2016, *Order Matters: Sequence to Sequence for Sets*,
    /// in `steps` steps. Returns the last query and reading as a `graphs x 2 H` matrix.
    ///
    /// A reading is a weighted sum of the nodes' states. In each step, the memory turns the query and the reading into
    /// a new query. The attention to the nodes is the softmax of the scalar products of the query and the states. The
    /// new reading is the sum of the states, weighted by attention.
    pub fn set2set(&mut self, lstm: Lstm, input: Var, block: &'a Block<T>, steps: usize) -> Var {
        let parameters = self.parameters();
        let x = self.value(input);
        let width = x.ncols();
        let weight = lstm.weight(parameters);
        let bias = &parameters[lstm.input_bias] + &parameters[lstm.hidden_bias];
        let mut saved = Vec::with_capacity(steps);
        let mut state = Array2::zeros((block.graphs(), 2 * width));
        let mut cell = Array2::zeros((block.graphs(), width));
        for _ in 0..steps {
            let mut gates = Array2::zeros((block.graphs(), 4 * width));
            rows_mut(&mut gates).for_each(|to| to.copy_from_slice(row(&bias, 0)));
            add_product(&state.view(), &weight.t(), gates.view_mut());
            let mut after = Array2::zeros(state.raw_dim());
            let (cells, bounded) = query(&mut gates, &cell, &mut after);
            let attention = vectorised(|| read(x, block.nodes(), &mut after));
            let before = std::mem::replace(&mut state, after);
            let cell = std::mem::replace(&mut cell, cells);
            saved.push(Step {
                before,
                gates,
                cell,
                bounded,
                attention,
            });
        }
        let output = self.next();
        let op = || Set2Set {
            lstm,
            input,
            output,
            block,
            steps: saved,
        };
        self.push(state, &[input], &lstm.all(), || Box::new(op()))
    }
}

/// Computes one step of the memory. On entry, `gates` holds the gates' pre-activations. On return,
/// it holds the activated gates. The query is written to the first half of `state`. Returns the
/// cell and its hyperbolic tangent.
fn query<T: Real>(
    gates: &mut Array2<T>,
    cell: &Array2<T>,
    state: &mut Array2<T>,
) -> (Array2<T>, Array2<T>) {
    let width = cell.ncols();
    let mut next = cell.clone();
    for (gates, cell) in rows_mut(gates).zip(rows_mut(&mut next)) {
        T::sigmoid(&mut gates[..2 * width]);
        T::hyperbolic_tangent(&mut gates[2 * width..3 * width]);
        T::sigmoid(&mut gates[3 * width..]);
        for i in 0..width {
            cell[i] = gates[width + i] * cell[i] + gates[i] * gates[2 * width + i];
        }
    }
    let mut bounded = next.clone();
    rows_mut(&mut bounded).for_each(T::hyperbolic_tangent);
    for ((gates, bounded), state) in rows(gates).zip(rows(&bounded)).zip(rows_mut(state)) {
        for i in 0..width {
            state[i] = gates[3 * width + i] * bounded[i];
        }
    }
    (next, bounded)
}

/// Computes the reading of each graph. The first half of `state` holds the query, and the reading
/// is written to the second half. Returns the attention to each node.
#[inline(always)]
fn read<T: Real>(x: &Array2<T>, nodes: usize, state: &mut Array2<T>) -> Array2<T> {
    let width = x.ncols();
    let mut attention = Array2::zeros((state.nrows(), nodes));
    for (graph, state) in rows_mut(state).enumerate() {
        let (query, reading) = state.split_at_mut(width);
        let weights = row_mut(&mut attention, graph);
        for (node, weight) in weights.iter_mut().enumerate() {
            *weight = dot(row(x, graph * nodes + node), query);
        }
        softmax(weights);
        for (node, &weight) in weights.iter().enumerate() {
            axpy(weight, row(x, graph * nodes + node), reading);
        }
    }
    attention
}

/// Replaces scores with their softmax. The highest score is subtracted first, so that no exponential
/// overflows.
#[inline(always)]
pub(super) fn softmax<T: Real>(scores: &mut [T]) {
    let highest = scores
        .iter()
        .fold(T::neg_infinity(), |high, &score| high.max(score));
    scores
        .iter_mut()
        .for_each(|score| *score = (*score - highest).exp());
    let sum: T = scores.iter().copied().sum();
    scores.iter_mut().for_each(|score| *score /= sum);
}

impl<T: Real> Op<T> for Set2Set<'_, T> {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let x = flow.value(self.input);
        let (width, graphs) = (x.ncols(), self.block.graphs());
        let weight = self.lstm.weight(flow.parameters());
        let mut by_nodes = flow.wants(self.input).then(|| Array2::zeros(x.raw_dim()));
        let mut by_cell = Array2::zeros((graphs, width));
        // The rows of all steps are collected, so that a single product gives the gradient of the
        // weights.
        let rows = self.steps.len() * graphs;
        let (mut all_sums, mut all_states) = (
            Array2::zeros((rows, 4 * width)),
            Array2::zeros((rows, 2 * width)),
        );
        let mut after = flow.value(self.output);
        // At the start of an iteration, `grad` is the gradient of the query and the reading after
        // the step. At the end of the iteration, it is the gradient of the query and the reading
        // before the step.
        for (index, step) in self.steps.iter().enumerate().rev() {
            vectorised(|| step.unread(x, after, &mut grad, by_nodes.as_mut()));
            let sums = step.unquery(&grad, &mut by_cell);
            grad = product(&sums.view(), &weight.view());
            let place = index * graphs..(index + 1) * graphs;
            all_sums.slice_mut(s![place.clone(), ..]).assign(&sums);
            all_states.slice_mut(s![place, ..]).assign(&step.before);
            after = &step.before;
        }
        if let Some(grad) = by_nodes {
            flow.add(self.input, grad);
        }
        self.learn(&all_sums, &all_states, flow);
    }
}

impl<T: Real> Set2Set<'_, T> {
    /// Adds the gradients of the parameters, computed from `sums`, the gradients of the gates'
    /// pre-activations.
    fn learn(&self, sums: &Array2<T>, states: &Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let width = states.ncols() / 2;
        let weight = product(&sums.t(), &states.view());
        if let Some(sum) = flow.of_parameter(self.lstm.input_weight) {
            *sum += &weight;
        }
        if let Some(sum) = flow.of_parameter(self.lstm.hidden_weight) {
            *sum += &weight.slice(s![.., ..width]);
        }
        for bias in [self.lstm.input_bias, self.lstm.hidden_bias] {
            if let Some(sum) = flow.of_parameter(bias) {
                add_row_sum(&sums.view(), sum, 0);
            }
        }
    }
}

impl<T: Real> Step<T> {
    /// Computes the backward pass of [`read`]. The second half of `grad` is the gradient of the
    /// reading. The gradient of the query is computed from it and added to the first half of
    /// `grad`. The gradients of the nodes are added to `by_nodes`. `after` holds the query and the
    /// reading after the step.
    #[inline(always)]
    fn unread(
        &self,
        x: &Array2<T>,
        after: &Array2<T>,
        grad: &mut Array2<T>,
        mut by_nodes: Option<&mut Array2<T>>,
    ) {
        let (width, nodes) = (x.ncols(), self.attention.ncols());
        for (graph, grad) in rows_mut(grad).enumerate() {
            let (by_query, by_reading) = grad.split_at_mut(width);
            let (query, reading) = row(after, graph).split_at(width);
            // In the gradient of a softmax, the weighted mean of the weights' gradients is subtracted. This mean is the
            // scalar product of the reading and its gradient, because the reading is the weighted sum of the nodes'
            // states.
            let mean = dot(by_reading, reading);
            for (node, &weight) in row(&self.attention, graph).iter().enumerate() {
                let node = graph * nodes + node;
                let value = row(x, node);
                let by_score = weight * (dot(by_reading, value) - mean);
                axpy(by_score, value, by_query);
                if let Some(by_nodes) = &mut by_nodes {
                    let to = row_mut(by_nodes, node);
                    axpy(weight, by_reading, to);
                    axpy(by_score, query, to);
                }
            }
        }
    }

    /// Computes the backward pass of [`query`]. Returns the gradients of the gates'
    /// pre-activations. The first half of `grad` is the gradient of the query. On entry, `by_cell`
    /// is the gradient of the cell after the step. On return, it is the gradient of the cell before
    /// the step.
    fn unquery(&self, grad: &Array2<T>, by_cell: &mut Array2<T>) -> Array2<T> {
        let width = self.cell.ncols();
        let mut sums = Array2::zeros(self.gates.raw_dim());
        let saved = rows(&self.gates)
            .zip(rows(&self.cell))
            .zip(rows(&self.bounded));
        let made = rows_mut(&mut sums).zip(rows_mut(by_cell)).zip(rows(grad));
        for (((gates, cell), bounded), ((sums, by_cell), grad)) in saved.zip(made) {
            for i in 0..width {
                let [input, forget, new, output] = [0, 1, 2, 3].map(|gate| gates[gate * width + i]);
                let slope = T::one() - bounded[i] * bounded[i];
                let by_next = by_cell[i] + grad[i] * output * slope;
                sums[i] = by_next * new * input * (T::one() - input);
                sums[width + i] = by_next * cell[i] * forget * (T::one() - forget);
                sums[2 * width + i] = by_next * input * (T::one() - new * new);
                sums[3 * width + i] = grad[i] * bounded[i] * output * (T::one() - output);
                by_cell[i] = by_next * forget;
            }
        }
        sums
    }
}
