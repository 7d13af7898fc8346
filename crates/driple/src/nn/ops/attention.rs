//! Attention between nodes (Veličković et al. 2018).
//!
//! A node's new value is a weighted sum of the values of the nodes that it attends to. The weights
//! are the softmax of scores. For example, if a node attends to two nodes with the scores 1.5 and
//! 3, the weights are `e^1.5 / (e^1.5 + e^3)` = 0.18 and 0.82. Only pairs in which one node attends
//! to the other are stored, so the cost is proportional to the number of these pairs.

use std::ops::Range;

use ndarray::Array2;

use super::super::block::Block;
use super::super::kernels::{axpy, dot, row, row_mut, rows_mut};
use super::super::tape::{Flow, Op};
use super::super::{ParamId, Real, Tape, Var};
use super::Activation;
use super::set2set::softmax;

/// The pairs of nodes in which one node attends to the other, and the nodes that determine the
/// score of each pair.
#[derive(Debug, Clone, Default)]
pub struct Attention {
    pairs: Vec<Pair>,
    /// Ranges of `pairs`. The weights in each range sum to one.
    groups: Vec<Range<usize>>,
}

/// A pair of nodes. The value of `from`, multiplied by the weight of the pair, is added to the new value of `to`.
#[derive(Debug, Clone)]
struct Pair {
    to: usize,
    from: usize,
    /// The nodes whose values determine the score; `None` for a constant score.
    score: Option<(usize, usize)>,
}

impl Attention {
    /// Every node attends to itself and its neighbours, with weights that sum to one. Each score is
    /// computed from a node and the node that it attends to (Veličković et al. 2018).
    #[must_use]
    pub fn neighbours<T: Real>(block: &Block<T>) -> Self {
        let mut this = Self::default();
        for to in 0..block.graphs() * block.nodes() {
            this.group(block.normalised.row(to).iter().map(|&(from, _)| Pair {
                to,
                from,
                score: Some((to, from)),
            }));
        }
        this
    }

    /// The original's attention, including its mistakes. Nodes attend only to neighbours. The
    /// softmax is taken over the wrong nodes: the weights of a node's outgoing contributions sum to
    /// one, instead of the weights of its incoming contributions. Scores are computed from the
    /// wrong nodes, because the buffer of pairs is concatenated along the wrong axis.
    #[must_use]
    pub fn original<T: Real>(block: &Block<T>) -> Self {
        let mut this = Self::default();
        let nodes = block.nodes();
        let squared = nodes * nodes;
        // The node in row `k` of the original's buffer of pairs. The first half of the buffer
        // repeats each node `nodes` times, and the second half repeats the sequence of all nodes
        // `nodes` times. A score is computed from two consecutive rows.
        let buffered = |k: usize| {
            if k < squared {
                k / nodes
            } else {
                (k - squared) % nodes
            }
        };
        for graph in 0..block.graphs() {
            let first = graph * nodes;
            for from in 0..nodes {
                let neighbours = block.adjacency.row(first + from);
                this.group((0..nodes).filter_map(|to| {
                    let linked = neighbours.iter().any(|&(node, _)| node == first + to);
                    let k = 2 * (to * nodes + from);
                    let score = linked.then(|| (first + buffered(k), first + buffered(k + 1)));
                    let pair = Pair {
                        to: first + to,
                        from: first + from,
                        score,
                    };
                    // If a node has no neighbours, it is paired with every node. The scores of
                    // these pairs are all equal, so their weights are equal too.
                    (linked || neighbours.is_empty()).then_some(pair)
                }));
            }
        }
        this
    }

    /// Adds a group of pairs, whose weights sum to one.
    fn group(&mut self, pairs: impl Iterator<Item = Pair>) {
        let start = self.pairs.len();
        self.pairs.extend(pairs);
        self.groups.push(start..self.pairs.len());
    }
}

/// A head of an attention layer, with the values that the backward pass needs.
struct Head<'a, T> {
    input: Var,
    vector: ParamId,
    attention: &'a Attention,
    activation: Activation,
    output: Var,
    /// For each pair, the derivative of the score's activation.
    slopes: Vec<T>,
    /// The weight of each pair.
    weights: Vec<T>,
}

/// The slope of the score's activation below zero.
const SLOPE: f64 = 0.2;

impl<'a, T: Real> Tape<'a, T> {
    /// Applies one attention head: computes weighted sums of the rows of `input`, and applies
    /// `activation` to them. The weights are the softmax of the scores `leaky(a . [x_u, x_v])`.
    /// Here, `x_u` and `x_v` are rows with `H` elements, and `a` is `vector`, with `2 H` elements.
    pub fn attend(
        &mut self,
        input: Var,
        vector: ParamId,
        attention: &'a Attention,
        activation: Activation,
    ) -> Var {
        let x = self.value(input);
        let a = self.parameters()[vector].as_slice().unwrap_or_default();
        // A score is the sum of two parts, one for each of its nodes, because `a` consists of two
        // halves. Each part therefore needs to be computed only once per node.
        let (first, second) = a.split_at(x.ncols());
        let parts = |half: &[T]| -> Vec<T> {
            (0..x.nrows())
                .map(|index| dot(row(x, index), half))
                .collect()
        };
        let (first, second) = (parts(first), parts(second));
        let sums = attention.pairs.iter().map(|pair| {
            pair.score
                .map_or_else(T::zero, |(u, v)| first[u] + second[v])
        });
        let leaky = Activation::Leaky(SLOPE);
        let mut weights: Vec<T> = sums.map(|sum| leaky.at(sum)).collect();
        let slopes = weights.iter().map(|&score| leaky.slope(score)).collect();
        attention
            .groups
            .iter()
            .for_each(|group| softmax(&mut weights[group.clone()]));
        let mut out = Array2::zeros(x.raw_dim());
        for (pair, &weight) in attention.pairs.iter().zip(&weights) {
            axpy(weight, row(x, pair.from), row_mut(&mut out, pair.to));
        }
        rows_mut(&mut out)
            .flatten()
            .for_each(|value| *value = activation.at(*value));
        let output = self.next();
        let head = || Head {
            input,
            vector,
            attention,
            activation,
            output,
            slopes,
            weights,
        };
        self.push(out, &[input], &[vector], || Box::new(head()))
    }
}

impl<T: Real> Op<T> for Head<'_, T> {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let x = flow.value(self.input);
        self.activation.weigh(&mut grad, flow.value(self.output));
        let mut by_input = Array2::zeros(x.raw_dim());
        let by_weights: Vec<T> = self
            .attention
            .pairs
            .iter()
            .zip(&self.weights)
            .map(|(pair, &weight)| {
                axpy(
                    weight,
                    row(&grad, pair.to),
                    row_mut(&mut by_input, pair.from),
                );
                dot(row(&grad, pair.to), row(x, pair.from))
            })
            .collect();
        let (first, second) = self.by_parts(&by_weights, x.nrows());
        let a = flow.parameter(self.vector).as_slice().unwrap_or_default();
        let halves = a.split_at(x.ncols());
        for index in 0..x.nrows() {
            axpy(first[index], halves.0, row_mut(&mut by_input, index));
            axpy(second[index], halves.1, row_mut(&mut by_input, index));
        }
        if let Some(sum) = flow
            .of_parameter(self.vector)
            .and_then(|sum| sum.as_slice_mut())
        {
            let (to_first, to_second) = sum.split_at_mut(x.ncols());
            for index in 0..x.nrows() {
                axpy(first[index], row(x, index), to_first);
                axpy(second[index], row(x, index), to_second);
            }
        }
        if flow.wants(self.input) {
            flow.add(self.input, by_input);
        }
    }
}

impl<T: Real> Head<'_, T> {
    /// For each node, the gradients of its two contributions to scores: as the first node of a
    /// pair, and as the second node.
    fn by_parts(&self, by_weights: &[T], nodes: usize) -> (Vec<T>, Vec<T>) {
        let (mut first, mut second) = (vec![T::zero(); nodes], vec![T::zero(); nodes]);
        for group in &self.attention.groups {
            let (weights, by_weights) = (&self.weights[group.clone()], &by_weights[group.clone()]);
            // The gradient of a score is `w (g - mean)`, where `w` is its weight and `g` is the
            // gradient of this weight. `mean` is the weighted mean of the gradients of all weights
            // in the group.
            let mean = dot(weights, by_weights);
            for (offset, index) in group.clone().enumerate() {
                if let Some((u, v)) = self.attention.pairs[index].score {
                    let by_score =
                        weights[offset] * (by_weights[offset] - mean) * self.slopes[index];
                    first[u] += by_score;
                    second[v] += by_score;
                }
            }
        }
        (first, second)
    }
}
