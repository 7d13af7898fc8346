//! Declares the parameters of a network with their names, shapes and initial values.

use ndarray::{Array2, s};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::architecture::Design;
use crate::nn::{Gru, Layout, Lstm, ParamId, Parameters, Real, Weight};

/// Collects the parameters of a network.
pub(super) struct Declare<T> {
    design: Design,
    parameters: Parameters<T>,
    random: ChaCha8Rng,
}

/// Added to the initial bias of the update gate. If all other terms of the gate are 0, a step keeps
/// `sigmoid(2)` of the state, which is about 88 %.
const PERSISTENCE: f64 = 2.0;

/// The parameters of a linear layer.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub weight: ParamId,
    pub bias: ParamId,
    pub inputs: usize,
}

impl Linear {
    /// The weights for all inputs.
    pub fn whole(&self) -> Weight {
        self.part(0..self.inputs)
    }

    /// The weights for some of the inputs.
    pub fn part(&self, inputs: std::ops::Range<usize>) -> Weight {
        Weight {
            id: self.weight,
            layout: Layout::OutIn,
            inputs,
        }
    }
}

impl<T: Real> Declare<T> {
    pub fn new(design: Design, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self {
            design,
            parameters: Parameters::new(),
            random,
        }
    }

    /// The design of the network.
    pub fn design(&self) -> Design {
        self.design
    }

    pub fn finish(self) -> Parameters<T> {
        self.parameters
    }

    /// Adds a parameter whose values are drawn uniformly from `-bound..bound`.
    pub fn uniform(&mut self, name: String, shape: &[usize], bound: f64) -> ParamId {
        let (rows, columns) = match *shape {
            [rows, columns] => (rows, columns),
            _ => (1, shape.iter().product()),
        };
        let random = &mut self.random;
        let value = Array2::from_shape_simple_fn((rows, columns), || {
            T::of(bound * (2.0 * random.random::<f64>() - 1.0))
        });
        self.parameters.add(name, shape, value)
    }

    /// Adds a vector parameter whose elements all have the same initial value.
    pub fn constant(&mut self, name: String, length: usize, value: f64) -> ParamId {
        self.parameters.add(
            name,
            &[length],
            Array2::from_elem((1, length), T::of(value)),
        )
    }

    /// Adds a linear layer, named as in the original. The initial weights and biases are drawn
    /// uniformly from ±`1 / sqrt(inputs)`. In the original's design, the biases are 0 and the
    /// weights are much closer to 0: their bound is Glorot's bound divided by the number of inputs.
    pub fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Linear {
        let (bound, bias_bound) = match self.design {
            Design::Original => (
                (6.0 / (inputs + outputs) as f64).sqrt() / inputs as f64,
                0.0,
            ),
            Design::Deep => {
                let bound = 1.0 / (inputs as f64).sqrt();
                (bound, bound)
            }
        };
        let weight = self.uniform(format!("{name}.linear.weight"), &[outputs, inputs], bound);
        let bias = self.uniform(format!("{name}.linear.bias"), &[outputs], bias_bound);
        Linear {
            weight,
            bias,
            inputs,
        }
    }

    /// Adds the four parameters of a recurrent unit: weights for the input (`rows x inputs`),
    /// weights for the state (`rows x state`), and a bias for each.
    fn recurrent(&mut self, name: &str, rows: usize, inputs: usize, state: usize) -> [ParamId; 4] {
        let bound = 1.0 / (state as f64).sqrt();
        [
            self.uniform(format!("{name}.weight_ih_l0"), &[rows, inputs], bound),
            self.uniform(format!("{name}.weight_hh_l0"), &[rows, state], bound),
            self.uniform(format!("{name}.bias_ih_l0"), &[rows], bound),
            self.uniform(format!("{name}.bias_hh_l0"), &[rows], bound),
        ]
    }

    /// Adds the parameters of a gated recurrent unit of the given width.
    pub fn gru(&mut self, name: &str, width: usize) -> Gru {
        let [input_weight, hidden_weight, input_bias, hidden_bias] =
            self.recurrent(name, 3 * width, width, width);
        if self.design == Design::Deep {
            // This bias makes the update gate keep most of the old state at the start of training,
            // so that signals pass through all layers.
            let mut update = self.parameters[input_bias].slice_mut(s![0, width..2 * width]);
            update.mapv_inplace(|bias| bias + T::of(PERSISTENCE));
        }
        Gru {
            input_weight,
            hidden_weight,
            input_bias,
            hidden_bias,
        }
    }

    /// Adds the parameters of the long short-term memory for a Set2Set readout of the given width.
    pub fn lstm(&mut self, name: &str, width: usize) -> Lstm {
        let [input_weight, hidden_weight, input_bias, hidden_bias] =
            self.recurrent(name, 4 * width, 2 * width, width);
        Lstm {
            input_weight,
            hidden_weight,
            input_bias,
            hidden_bias,
        }
    }
}
