//! A whole network: convolutions, each followed by a recurrent update of the nodes' states, and the
//! readout.

use ndarray::Array2;

use super::architecture::{Architecture, Convolution, Design};
use super::convolution::{Layer, Widths};
use super::declare::Declare;
use super::inputs::Inputs;
use super::readout::{READOUT_LAYERS, Readout};
use crate::graph::GroupedGraph;
use crate::nn::{Attention, Block, Gru, Parameters, Real, Tape, Var};

/// The prefix that all parameter names of the repeated convolution share.
pub const REPEATED: &str = "conv_layers.1.";

/// The layers of a network. The values of their parameters are in [`Parameters`].
#[derive(Debug, Clone)]
pub struct Network {
    architecture: Architecture,
    first: Layer,
    /// The convolution that is applied in all layers but the first.
    repeated: Layer,
    gru: Gru,
    readout: Readout,
}

/// Graphs of equal size, laid out for a network.
#[derive(Debug, Clone)]
pub struct Layout<T> {
    pub(super) block: Block<T>,
    pub(super) attention: Attention,
    /// The inputs of all nodes, with one row per node.
    inputs: Array2<T>,
}

impl<T: Real> Layout<T> {
    /// The number of graphs.
    #[must_use]
    pub fn graphs(&self) -> usize {
        self.block.graphs()
    }
}

impl Network {
    /// Creates a network and its initial parameters. Random parameters are drawn with `seed`.
    #[must_use]
    pub fn new<T: Real>(architecture: Architecture, seed: u64) -> (Self, Parameters<T>) {
        let mut declare = Declare::new(architecture.design, seed);
        let hidden = architecture.hidden;
        let kind = architecture.convolution;
        let inputs = architecture.inputs();
        let widths = Widths {
            input: inputs,
            output: hidden,
            first: true,
        };
        let first = Layer::declare(kind, "conv_layers.0", widths, &mut declare);
        let widths = Widths {
            input: hidden,
            output: hidden,
            first: false,
        };
        let repeated = Layer::declare(kind, "conv_layers.1", widths, &mut declare);
        let gru = declare.gru("gru.gru", hidden);
        let readout = Readout::declare(&architecture, &mut declare);
        (
            Self {
                architecture,
                first,
                repeated,
                gru,
                readout,
            },
            declare.finish(),
        )
    }

    /// The network's architecture.
    #[must_use]
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Lays out graphs, which must all have the same number of nodes. `inputs` must match the
    /// network's design.
    #[must_use]
    pub fn lay_out<'g, T: Real>(
        &self,
        graphs: impl IntoIterator<Item = &'g GroupedGraph>,
        inputs: &Inputs,
    ) -> Layout<T> {
        let graphs: Vec<&GroupedGraph> = graphs.into_iter().collect();
        let block = Block::new(&graphs);
        let attention = match (self.architecture.convolution, self.architecture.design) {
            (Convolution::Gat, Design::Original) => Attention::original(&block),
            (Convolution::Gat, Design::Deep) => Attention::neighbours(&block),
            _ => Attention::default(),
        };
        let values = graphs
            .iter()
            .flat_map(|graph| inputs.of(graph))
            .map(T::of)
            .collect();
        let shape = (block.graphs() * block.nodes(), inputs.width());
        let inputs = Array2::from_shape_vec(shape, values).unwrap_or_default();
        Layout {
            block,
            attention,
            inputs,
        }
    }

    /// The predictions for all graphs, as a `graphs x 12` matrix.
    pub fn apply<'a, T: Real>(&self, tape: &mut Tape<'a, T>, layout: &'a Layout<T>) -> Var {
        let embedded = self.embed(tape, layout);
        self.readout.metrics(tape, embedded)
    }

    /// The input of the readout's linear layers, for each graph.
    pub fn embed<'a, T: Real>(&self, tape: &mut Tape<'a, T>, layout: &'a Layout<T>) -> Var {
        let mut states = tape.input(layout.inputs.clone());
        for layer in 0..self.architecture.depth.layers(layout.block.nodes()) {
            let convolution = if layer == 0 {
                &self.first
            } else {
                &self.repeated
            };
            let heard = convolution.apply(tape, states, layout);
            // In the original, the old states are the unit's input, and the result of the
            // convolution is its memory. The deep design swaps these roles. In the first layer, the
            // old states are the inputs of the nodes. These inputs have fewer columns than the
            // later states, and missing columns count as zeros.
            states = match self.architecture.design {
                Design::Original => tape.gru(self.gru, states, heard),
                Design::Deep if layer == 0 => {
                    let padded = tape.input(padded(&layout.inputs, self.architecture.hidden));
                    tape.gru(self.gru, heard, padded)
                }
                Design::Deep => tape.gru(self.gru, heard, states),
            };
        }
        self.readout.embed(tape, states, &layout.block)
    }

    /// The predictions for all graphs, computed from the result of [`Network::embed`].
    pub fn metrics<T: Real>(&self, tape: &mut Tape<'_, T>, embedded: Var) -> Var {
        self.readout.metrics(tape, embedded)
    }

    /// Whether training updates only the readout's linear layers. The inputs of these layers are
    /// then the same in every epoch.
    #[must_use]
    pub fn only_readout_learns<T: Real>(&self, parameters: &Parameters<T>) -> bool {
        let mut learnt = parameters.ids().filter(|&id| parameters.is_trained(id));
        learnt.all(|id| parameters.name(id).starts_with(READOUT_LAYERS))
    }

    /// Sets the biases of the last layer to `metrics`, the means of the scaled labels, so that the
    /// first predictions are near these means.
    pub fn begin_at<T: Real>(&self, parameters: &mut Parameters<T>, metrics: &[f64]) {
        self.readout.begin_at(parameters, metrics);
    }
}

/// `inputs`, padded with columns of zeros to `width` columns.
fn padded<T: Real>(inputs: &Array2<T>, width: usize) -> Array2<T> {
    let mut out = Array2::zeros((inputs.nrows(), width));
    out.slice_mut(ndarray::s![.., ..inputs.ncols()])
        .assign(inputs);
    out
}
