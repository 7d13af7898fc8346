//! The gated recurrent unit.

use ndarray::{Array2, Axis, s};

use super::super::kernels::{add_row_sum, axpy, rows, rows_mut, vectorised};
use super::super::product::{add_product, set_product};
use super::super::tape::{Flow, Op};
use super::super::{ParamId, Parameters, Real, Tape, Var};

/// The parameters of a gated recurrent unit (Cho et al. 2014) of width `H`, as in PyTorch's `GRU`.
/// The gates are in the order reset, update, new.
#[derive(Debug, Clone, Copy)]
pub struct Gru {
    /// The weights for the input, `3 H x H`.
    pub input_weight: ParamId,
    /// The weights for the hidden state, `3 H x H`.
    pub hidden_weight: ParamId,
    /// The biases for the input, `3 H`.
    pub input_bias: ParamId,
    /// The biases for the hidden state, `3 H`.
    pub hidden_bias: ParamId,
}

impl Gru {
    fn all(&self) -> [ParamId; 4] {
        [
            self.input_weight,
            self.hidden_weight,
            self.input_bias,
            self.hidden_bias,
        ]
    }
}

/// A step of the unit, with the values that the backward pass needs.
struct Step {
    gru: Gru,
    input: Var,
    hidden: Var,
    /// The reset, update and new gates of each row.
    gates: Var,
    /// The contribution of the hidden state to the new gate, before the reset gate is applied.
    recalled: Var,
}

impl<'a, T: Real> Tape<'a, T> {
    /// Computes one step of the unit and returns the new state. If `input` has fewer than `H`
    /// columns, the missing columns count as zeros.
    ///
    /// Here `x` is the input, `y` the hidden state, `W` and `U` are the weights, `b` and `c` the
    /// biases, and `*` multiplies element by element:
    ///
    /// ```text
    /// reset    = sigmoid(W_r x + b_r + U_r y + c_r)
    /// update   = sigmoid(W_u x + b_u + U_u y + c_u)
    /// recalled = U_n y + c_n
    /// new      = tanh(W_n x + b_n + reset * recalled)
    /// state    = new + update * (y - new)
    /// ```
    pub fn gru(&mut self, gru: Gru, input: Var, hidden: Var) -> Var {
        let (x, y) = (self.value(input), self.value(hidden));
        let parameters = self.parameters();
        let width = y.ncols();
        let mut gates = self.buffers().any(x.nrows(), 3 * width);
        let mut recalled = self.buffers().any(x.nrows(), width);
        let by_input = parameters[gru.input_weight].slice(s![.., ..x.ncols()]);
        let by_hidden = &parameters[gru.hidden_weight];
        set_product(&x.view(), &by_input.t(), gates.view_mut());
        let (both, new) = (
            by_hidden.slice(s![..2 * width, ..]),
            by_hidden.slice(s![2 * width.., ..]),
        );
        add_product(&y.view(), &both.t(), gates.slice_mut(s![.., ..2 * width]));
        set_product(&y.view(), &new.t(), recalled.view_mut());
        let mut out = self.buffers().any(y.nrows(), width);
        let biases = biases(parameters, &gru, width);
        vectorised(|| next_state(&biases, &mut gates, &mut recalled, y, &mut out));
        let (gates, recalled) = (self.input(gates), self.input(recalled));
        let step = || Step {
            gru,
            input,
            hidden,
            gates,
            recalled,
        };
        self.push(out, &[input, hidden], &gru.all(), || Box::new(step()))
    }
}

/// The biases, in two lists. The first list is added to the gates' pre-activations: both biases of
/// the reset and update gates, and the input's bias of the new gate. The second list is added to
/// `recalled`: the hidden state's bias of the new gate.
fn biases<T: Real>(parameters: &Parameters<T>, gru: &Gru, width: usize) -> (Vec<T>, Vec<T>) {
    let mut sums = parameters[gru.input_bias].row(0).to_vec();
    let hidden = parameters[gru.hidden_bias].row(0);
    sums.iter_mut()
        .zip(hidden)
        .take(2 * width)
        .for_each(|(to, &b)| *to += b);
    (sums, hidden.slice(s![2 * width..]).to_vec())
}

/// Computes the new state. On entry, `gates` holds the gates' pre-activations, and `recalled` holds
/// the product `U_n y`, both without biases. The pre-activation of the new gate also lacks `reset *
/// recalled`. On return, `gates` holds the activated gates, `recalled` includes its bias, and `out`
/// is the new state.
#[inline(always)]
fn next_state<T: Real>(
    biases: &(Vec<T>, Vec<T>),
    gates: &mut Array2<T>,
    recalled: &mut Array2<T>,
    y: &Array2<T>,
    out: &mut Array2<T>,
) {
    let width = y.ncols();
    let states = rows_mut(recalled).zip(rows(y)).zip(rows_mut(out));
    for (gates, ((recalled, y), out)) in rows_mut(gates).zip(states) {
        axpy(T::one(), &biases.0, gates);
        axpy(T::one(), &biases.1, recalled);
        let (both, new) = gates.split_at_mut(2 * width);
        T::sigmoid(both);
        let (reset, update) = both.split_at(width);
        for ((new, &recalled), &reset) in new.iter_mut().zip(recalled.iter()).zip(reset) {
            *new += reset * recalled;
        }
        T::hyperbolic_tangent(new);
        for (((out, &y), &new), &update) in out.iter_mut().zip(y).zip(new.iter()).zip(update) {
            *out = new + update * (y - new);
        }
    }
}

impl<T: Real> Op<T> for Step {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let (x, y) = (flow.value(self.input), flow.value(self.hidden));
        let width = y.ncols();
        let buffers = flow.buffers();
        let mut sums = buffers.any(x.nrows(), 3 * width);
        let mut recalled = buffers.any(x.nrows(), width);
        let saved = (flow.value(self.gates), flow.value(self.recalled), y);
        vectorised(|| gate_gradients(saved, &mut grad, &mut sums, &mut recalled));
        let both = sums.slice(s![.., ..2 * width]);
        if let Some(sum) = flow.of_parameter(self.gru.input_weight) {
            add_product(&sums.t(), &x.view(), sum.slice_mut(s![.., ..x.ncols()]));
        }
        if let Some(sum) = flow.of_parameter(self.gru.hidden_weight) {
            let (first, last) = sum.view_mut().split_at(Axis(0), 2 * width);
            add_product(&both.t(), &y.view(), first);
            add_product(&recalled.t(), &y.view(), last);
        }
        if let Some(sum) = flow.of_parameter(self.gru.input_bias) {
            add_row_sum(&sums.view(), sum, 0);
        }
        if let Some(sum) = flow.of_parameter(self.gru.hidden_bias) {
            add_row_sum(&both, sum, 0);
            add_row_sum(&recalled.view(), sum, 2 * width);
        }
        if flow.wants(self.input) {
            let weight = flow
                .parameter(self.gru.input_weight)
                .slice(s![.., ..x.ncols()]);
            flow.add_product(self.input, &sums.view(), &weight);
        }
        if flow.wants(self.hidden) {
            let weight = flow.parameter(self.gru.hidden_weight);
            flow.add(self.hidden, grad);
            flow.add_product(self.hidden, &both, &weight.slice(s![..2 * width, ..]));
            flow.add_product(
                self.hidden,
                &recalled.view(),
                &weight.slice(s![2 * width.., ..]),
            );
        } else {
            buffers.take_back(grad);
        }
        buffers.take_back(sums);
        buffers.take_back(recalled);
    }
}

/// Computes the gradients of one step, by the chain rule from `state = new + update * (y - new)`.
/// `saved` holds the gates, `recalled`, and the hidden state `y`. `sums` is set to the gradients of
/// the gates' pre-activations, and `recalls` is set to the gradients of `recalled`. On entry,
/// `grad` is the gradient of the new state. On return, it is the part of the hidden state's
/// gradient that does not pass through the gates, `grad * update`.
#[inline(always)]
fn gate_gradients<T: Real>(
    saved: (&Array2<T>, &Array2<T>, &Array2<T>),
    grad: &mut Array2<T>,
    sums: &mut Array2<T>,
    recalls: &mut Array2<T>,
) {
    let (gates, recalled, y) = saved;
    let width = y.ncols();
    let saved = rows(gates).zip(rows(recalled)).zip(rows(y));
    let made = rows_mut(sums).zip(rows_mut(recalls)).zip(rows_mut(grad));
    for (((gates, recalled), y), ((sums, recalls), grad)) in saved.zip(made) {
        let (reset, rest) = gates.split_at(width);
        let (update, new) = rest.split_at(width);
        let (by_reset, rest) = sums.split_at_mut(width);
        let (by_update, by_new) = rest.split_at_mut(width);
        let (recalled, y) = (&recalled[..width], &y[..width]);
        let (recalls, grad) = (&mut recalls[..width], &mut grad[..width]);
        for i in 0..width {
            let g = grad[i];
            let slope = g * (T::one() - update[i]) * (T::one() - new[i] * new[i]);
            by_new[i] = slope;
            by_update[i] = g * (y[i] - new[i]) * update[i] * (T::one() - update[i]);
            by_reset[i] = slope * recalled[i] * reset[i] * (T::one() - reset[i]);
            recalls[i] = slope * reset[i];
            grad[i] = g * update[i];
        }
    }
}
