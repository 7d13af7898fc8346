//! The readout, which computes the metrics of a graph from the states of its nodes.

use ndarray::Array2;

use super::architecture::{Architecture, Design};
use super::declare::{Declare, Linear};
use crate::graph::METRICS;
use crate::nn::{Activation, Block, Lstm, Parameters, Real, Tape, Var};

/// A Set2Set layer, followed by linear layers.
#[derive(Debug, Clone)]
pub(super) struct Readout {
    design: Design,
    memory: Lstm,
    layers: Vec<Linear>,
}

/// The prefix that all parameter names of the readout's linear layers share.
pub const READOUT_LAYERS: &str = "graph_read_out.mlp.";

/// The number of Set2Set steps in the deep design.
const STEPS: usize = 6;

/// A typical number of nodes. In the deep design, the readout receives the size of a graph as
/// `ln(nodes / USUAL_NODES)`.
const USUAL_NODES: f64 = 32.0;

impl Readout {
    pub fn declare<T: Real>(architecture: &Architecture, declare: &mut Declare<T>) -> Self {
        let Architecture {
            design,
            hidden,
            readout_layers,
            ..
        } = *architecture;
        let memory = declare.lstm("graph_read_out.set2set.lstm", hidden);
        let embedded = match design {
            Design::Original => 2 * hidden,
            Design::Deep => 4 * hidden + 1,
        };
        let count = readout_layers.max(1);
        let layer = |index: usize| {
            let inputs = if index == 0 { embedded } else { hidden };
            let outputs = if index + 1 == count { METRICS } else { hidden };
            declare.linear(
                &format!("{READOUT_LAYERS}fully_connected.{index}"),
                inputs,
                outputs,
            )
        };
        Self {
            design,
            memory,
            layers: (0..count).map(layer).collect(),
        }
    }

    /// The input of the linear layers, for each graph.
    pub fn embed<'a, T: Real>(
        &self,
        tape: &mut Tape<'a, T>,
        states: Var,
        block: &'a Block<T>,
    ) -> Var {
        match self.design {
            Design::Original => tape.set2set(self.memory, states, block, block.nodes()),
            Design::Deep => {
                let read = tape.set2set(self.memory, states, block, STEPS);
                let pooled = tape.pool(states, block);
                let size = T::of((block.nodes() as f64 / USUAL_NODES).ln());
                let size = tape.input(Array2::from_elem((block.graphs(), 1), size));
                tape.concatenate(&[read, pooled, size])
            }
        }
    }

    /// The metrics of all graphs, computed from the result of [`Readout::embed`].
    pub fn metrics<T: Real>(&self, tape: &mut Tape<'_, T>, embedded: Var) -> Var {
        let mut values = embedded;
        for (index, layer) in self.layers.iter().enumerate() {
            values = tape.linear(values, layer.whole(), Some(layer.bias));
            if index + 1 < self.layers.len() {
                values = tape.activate(values, Activation::RELU);
            } else if self.design == Design::Original {
                values = tape.activate(values, Activation::Leaky(0.01));
            }
        }
        values
    }

    /// Sets the biases of the last layer to `metrics`.
    pub fn begin_at<T: Real>(&self, parameters: &mut Parameters<T>, metrics: &[f64]) {
        if let Some(last) = self.layers.last() {
            let biases = parameters[last.bias].iter_mut().zip(metrics);
            biases.for_each(|(bias, &metric)| *bias = T::of(metric));
        }
    }
}
