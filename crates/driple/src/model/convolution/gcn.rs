//! The graph convolution of Kipf and Welling (2017).

use super::super::declare::Declare;
use super::Widths;
use crate::nn::{Activation, Block, Layout, ParamId, Real, Tape, Var, Weight};

/// `leaky(N X W + b)`, where `N` is the normalised adjacency matrix and `X` are the states.
#[derive(Debug, Clone)]
pub(in super::super) struct Gcn {
    weight: ParamId,
    bias: ParamId,
    inputs: usize,
}

impl Gcn {
    pub fn declare<T: Real>(name: &str, widths: Widths, declare: &mut Declare<T>) -> Self {
        let bound = 1.0 / (widths.output as f64).sqrt();
        let shape = [widths.input, widths.output];
        Self {
            weight: declare.uniform(format!("{name}.W"), &shape, bound),
            bias: declare.uniform(format!("{name}.b"), &[widths.output], bound),
            inputs: widths.input,
        }
    }

    pub fn apply<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        block: &'a Block<T>,
    ) -> Var {
        let weight = Weight {
            id: self.weight,
            layout: Layout::InOut,
            inputs: 0..self.inputs,
        };
        let product = tape.linear(states, weight, None);
        tape.convolve(product, block, self.bias, Activation::Leaky(0.01))
    }
}
