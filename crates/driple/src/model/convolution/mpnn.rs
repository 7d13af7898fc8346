//! Message passing in towers, as in principal neighbourhood aggregation (Corso et al. 2020), but
//! only with sums over neighbours.

use super::super::declare::{Declare, Linear};
use super::Widths;
use crate::nn::{Activation, Block, Real, Tape, Var};

/// The number of towers.
const TOWERS: usize = 4;

/// Parallel towers, whose outputs are mixed by a linear layer.
#[derive(Debug, Clone)]
pub(in super::super) struct Mpnn {
    towers: Vec<Tower>,
    mixing: Linear,
    /// Whether each tower sees only its own part of the states. Otherwise each tower sees the
    /// complete states.
    divided: bool,
}

/// Applies `before` to each pair of a node and a neighbour, and sums the results over the
/// neighbours. `after` is then applied to the node and this sum.
#[derive(Debug, Clone)]
struct Tower {
    before: Linear,
    after: Linear,
    width: usize,
}

impl Mpnn {
    pub fn declare<T: Real>(name: &str, widths: Widths, declare: &mut Declare<T>) -> Self {
        let divided = !widths.first;
        let width = if divided {
            widths.input / TOWERS
        } else {
            widths.input
        };
        let tower = |index: usize| {
            let name = format!("{name}.towers.{index}");
            let layer = "fully_connected.0";
            Tower {
                before: declare.linear(&format!("{name}.pretrans.{layer}"), 2 * width, width),
                after: declare.linear(
                    &format!("{name}.posttrans.{layer}"),
                    2 * width,
                    widths.output / TOWERS,
                ),
                width,
            }
        };
        let towers = (0..TOWERS).map(tower).collect();
        let mixing = declare.linear(
            &format!("{name}.mixing_network"),
            widths.output,
            widths.output,
        );
        Self {
            towers,
            mixing,
            divided,
        }
    }

    pub fn apply<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        block: &'a Block<T>,
    ) -> Var {
        let mut outputs = Vec::with_capacity(TOWERS);
        for (index, tower) in self.towers.iter().enumerate() {
            let part = if self.divided {
                tape.slice(states, index * tower.width..(index + 1) * tower.width)
            } else {
                states
            };
            outputs.push(tower.apply(tape, part, block));
        }
        let joined = tape.concatenate(&outputs);
        let mixed = tape.linear(joined, self.mixing.whole(), Some(self.mixing.bias));
        tape.activate(mixed, Activation::Leaky(0.01))
    }
}

impl Tower {
    fn apply<'a, T: Real>(&self, tape: &mut Tape<'a, T>, states: Var, block: &'a Block<T>) -> Var {
        let (own, other) = (0..self.width, self.width..2 * self.width);
        // A linear map of a pair is the sum of a map of the node and a map of the neighbour. A
        // matrix over all pairs is therefore not needed.
        let from_node = tape.linear(
            states,
            self.before.part(own.clone()),
            Some(self.before.bias),
        );
        let from_neighbour = tape.linear(states, self.before.part(other.clone()), None);
        let message = tape.pair_sum(from_node, from_neighbour, block);
        let kept = tape.linear(states, self.after.part(own), Some(self.after.bias));
        let heard = tape.linear(message, self.after.part(other), None);
        tape.add(kept, heard)
    }
}
