//! The graph isomorphism layer of Xu et al. (2019).

use super::super::declare::{Declare, Linear};
use super::Widths;
use crate::nn::{Activation, Block, ParamId, Real, Tape, Var};

/// Two linear layers with rectifiers. Their input is the sum of the states of a node's neighbours,
/// plus `1 + epsilon` times the state of the node itself.
#[derive(Debug, Clone)]
pub(in super::super) struct Gin {
    epsilon: ParamId,
    layers: [Linear; 2],
}

impl Gin {
    pub fn declare<T: Real>(name: &str, widths: Widths, declare: &mut Declare<T>) -> Self {
        let middle = widths.input.max(widths.output);
        let epsilon = declare.constant(format!("{name}.epsilon"), 1, 0.1);
        let name = format!("{name}.post_transformation.fully_connected");
        let layers = [
            declare.linear(&format!("{name}.0"), widths.input, middle),
            declare.linear(&format!("{name}.1"), middle, widths.output),
        ];
        Self { epsilon, layers }
    }

    pub fn apply<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        block: &'a Block<T>,
    ) -> Var {
        let mut states = tape.sum_with_self(states, block, self.epsilon);
        for layer in &self.layers {
            states = tape.linear(states, layer.whole(), Some(layer.bias));
            states = tape.activate(states, Activation::RELU);
        }
        states
    }
}
