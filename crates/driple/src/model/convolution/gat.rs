//! The graph attention layer of Veličković et al. (2018).

use super::super::architecture::Design;
use super::super::declare::Declare;
use super::Widths;
use crate::nn::{Activation, Attention, Layout, ParamId, Real, Tape, Var, Weight};

/// The number of heads.
const HEADS: usize = 4;

/// Parallel heads, each of which computes its own part of the new states.
#[derive(Debug, Clone)]
pub(in super::super) struct Gat {
    heads: Vec<Head>,
    inputs: usize,
}

#[derive(Debug, Clone)]
struct Head {
    weight: ParamId,
    vector: ParamId,
}

impl Gat {
    pub fn declare<T: Real>(name: &str, widths: Widths, declare: &mut Declare<T>) -> Self {
        let width = widths.output / HEADS;
        let gain = match declare.design() {
            Design::Original => 0.1414,
            Design::Deep => 1.0,
        };
        let glorot = |rows: usize, columns: usize| gain * (6.0 / (rows + columns) as f64).sqrt();
        let head = |index: usize| {
            let name = format!("{name}.heads.{index}");
            let bound = glorot(widths.input, width);
            Head {
                weight: declare.uniform(format!("{name}.W"), &[widths.input, width], bound),
                vector: declare.uniform(format!("{name}.a"), &[2 * width, 1], glorot(2 * width, 1)),
            }
        };
        Self {
            heads: (0..HEADS).map(head).collect(),
            inputs: widths.input,
        }
    }

    pub fn apply<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        attention: &'a Attention,
    ) -> Var {
        let heads: Vec<Var> = self
            .heads
            .iter()
            .map(|head| {
                let weight = Weight {
                    id: head.weight,
                    layout: Layout::InOut,
                    inputs: 0..self.inputs,
                };
                let values = tape.linear(states, weight, None);
                tape.attend(values, head.vector, attention, Activation::Elu)
            })
            .collect();
        tape.concatenate(&heads)
    }
}
