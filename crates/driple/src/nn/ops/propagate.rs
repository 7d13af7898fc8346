//! Sums over neighbours.

use ndarray::Array2;

use super::super::block::{Block, SparseMatrix};
use super::super::kernels::{add_row_sum, axpy, row, rows, rows_mut, vectorised};
use super::super::tape::{Flow, Op};
use super::super::{Buffers, ParamId, Real, Tape, Var};
use super::Activation;

/// The product of `matrix` and `x`.
fn times<T: Real>(matrix: &SparseMatrix<T>, x: &Array2<T>, buffers: &Buffers<T>) -> Array2<T> {
    let mut out = buffers.zeros(x.nrows(), x.ncols());
    vectorised(|| {
        for (index, to) in rows_mut(&mut out).enumerate() {
            for &(column, factor) in matrix.row(index) {
                axpy(factor, row(x, column), to);
            }
        }
    });
    out
}

struct Convolution<'a, T> {
    input: Var,
    bias: ParamId,
    activation: Activation,
    output: Var,
    block: &'a Block<T>,
}

struct SelfAndNeighbours<'a, T> {
    input: Var,
    epsilon: ParamId,
    block: &'a Block<T>,
}

struct PairSum<'a, T> {
    own: Var,
    other: Var,
    block: &'a Block<T>,
}

impl<'a, T: Real> Tape<'a, T> {
    /// `activation(N x + b)`, where `N` is the normalised adjacency matrix. In a graph convolution
    /// (Kipf and Welling 2017), this step follows the product with the weights.
    pub fn convolve(
        &mut self,
        input: Var,
        block: &'a Block<T>,
        bias: ParamId,
        activation: Activation,
    ) -> Var {
        let mut out = times(&block.normalised, self.value(input), self.buffers());
        let shift = self.parameters()[bias].as_slice().unwrap_or_default();
        vectorised(|| {
            for to in rows_mut(&mut out) {
                to.iter_mut()
                    .zip(shift)
                    .for_each(|(to, &b)| *to = activation.at(*to + b));
            }
        });
        let output = self.next();
        let op = || {
            Box::new(Convolution {
                input,
                bias,
                activation,
                output,
                block,
            })
        };
        self.push(out, &[input], &[bias], || op())
    }

    /// `(A + (1 + epsilon) I) x`, where `A` is the adjacency matrix. This is the sum in a graph
    /// isomorphism network (Xu et al. 2019).
    pub fn sum_with_self(&mut self, input: Var, block: &'a Block<T>, epsilon: ParamId) -> Var {
        let x = self.value(input);
        let own = T::one() + self.parameters()[epsilon][(0, 0)];
        let mut out = times(&block.adjacency, x, self.buffers());
        out.zip_mut_with(x, |to, &x| *to += own * x);
        let op = || {
            Box::new(SelfAndNeighbours {
                input,
                epsilon,
                block,
            })
        };
        self.push(out, &[input], &[epsilon], || op())
    }

    /// For each node, the sum of `own[node] + other[neighbour]` over its neighbours. If messages
    /// are linear maps of pairs of nodes, this is the sum of all messages to the node.
    pub fn pair_sum(&mut self, own: Var, other: Var, block: &'a Block<T>) -> Var {
        let mut out = times(&block.adjacency, self.value(other), self.buffers());
        for ((index, to), own) in rows_mut(&mut out).enumerate().zip(rows(self.value(own))) {
            axpy(T::of(block.adjacency.row(index).len() as f64), own, to);
        }
        self.push(out, &[own, other], &[], || {
            Box::new(PairSum { own, other, block })
        })
    }
}

impl<T: Real> Op<T> for Convolution<'_, T> {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        self.activation.weigh(&mut grad, flow.value(self.output));
        if let Some(sum) = flow.of_parameter(self.bias) {
            add_row_sum(&grad.view(), sum, 0);
        }
        if flow.wants(self.input) {
            let back = times(&self.block.normalised, &grad, flow.buffers());
            flow.add(self.input, back);
        }
        flow.buffers().take_back(grad);
    }
}

impl<T: Real> Op<T> for SelfAndNeighbours<'_, T> {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let x = flow.value(self.input);
        if let Some(sum) = flow.of_parameter(self.epsilon) {
            sum[(0, 0)] += grad.iter().zip(x).map(|(&g, &x)| g * x).sum::<T>();
        }
        if flow.wants(self.input) {
            let own = T::one() + flow.parameter(self.epsilon)[(0, 0)];
            let mut back = times(&self.block.adjacency, &grad, flow.buffers());
            back.zip_mut_with(&grad, |to, &g| *to += own * g);
            flow.add(self.input, back);
        }
    }
}

impl<T: Real> Op<T> for PairSum<'_, T> {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let adjacency = &self.block.adjacency;
        if flow.wants(self.other) {
            let back = times(adjacency, &grad, flow.buffers());
            flow.add(self.other, back);
        }
        if flow.wants(self.own) {
            for (index, row) in rows_mut(&mut grad).enumerate() {
                let degree = T::of(adjacency.row(index).len() as f64);
                row.iter_mut().for_each(|value| *value *= degree);
            }
            flow.add(self.own, grad);
        }
    }
}
