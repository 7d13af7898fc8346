//! The means and the highest values over all nodes of a graph.

use ndarray::Array2;

use super::super::block::Block;
use super::super::kernels::{axpy, row, row_mut, rows, rows_mut};
use super::super::tape::{Flow, Op};
use super::super::{Real, Tape, Var};

struct Pooled<'a, T> {
    input: Var,
    block: &'a Block<T>,
    /// For each graph and column, the node with the highest value.
    highest: Vec<usize>,
}

impl<'a, T: Real> Tape<'a, T> {
    /// Returns a `graphs x 2 H` matrix: for each graph, the mean and the highest value of each
    /// column over the graph's nodes.
    pub fn pool(&mut self, input: Var, block: &'a Block<T>) -> Var {
        let x = self.value(input);
        let (width, nodes) = (x.ncols(), block.nodes());
        let share = T::one() / T::of(nodes as f64);
        let mut out = Array2::zeros((block.graphs(), 2 * width));
        let mut highest = vec![0; block.graphs() * width];
        let places = highest.chunks_exact_mut(width.max(1));
        for ((graph, out), places) in rows_mut(&mut out).enumerate().zip(places) {
            let (means, maxima) = out.split_at_mut(width);
            maxima.fill(T::neg_infinity());
            for node in graph * nodes..(graph + 1) * nodes {
                axpy(share, row(x, node), means);
                for ((high, place), &value) in maxima.iter_mut().zip(&mut *places).zip(row(x, node))
                {
                    if value > *high {
                        (*high, *place) = (value, node);
                    }
                }
            }
        }
        self.push(out, &[input], &[], || {
            Box::new(Pooled {
                input,
                block,
                highest,
            })
        })
    }
}

impl<T: Real> Op<T> for Pooled<'_, T> {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let x = flow.value(self.input);
        let (width, nodes) = (x.ncols(), self.block.nodes());
        let share = T::one() / T::of(nodes as f64);
        let mut back = Array2::zeros(x.raw_dim());
        let places = self.highest.chunks_exact(width.max(1));
        for ((graph, grad), places) in rows(&grad).enumerate().zip(places) {
            let (by_mean, by_highest) = grad.split_at(width);
            for node in graph * nodes..(graph + 1) * nodes {
                axpy(share, by_mean, row_mut(&mut back, node));
            }
            for (column, (&place, &g)) in places.iter().zip(by_highest).enumerate() {
                back[(place, column)] += g;
            }
        }
        flow.add(self.input, back);
    }
}
