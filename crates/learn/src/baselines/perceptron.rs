//! Multilayer perceptron, built from the layers of `gleaner-driple`.

use gleaner_driple::nn::{
    Activation, Adam, AdamState, Gradients, Layout, ParamId, Parameters, Tape, Var, Weight,
};
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::encoding::Matrix;
use super::scale::Scale;
use super::{BaselineError, Predictor};

/// A perceptron whose settings match scikit-learn's `MLPRegressor(early_stopping=True)`: one hidden layer of 100
/// rectified linear units. It is trained with Adam at a learning rate of 0.001 on batches of 200 rows. A tenth of the
/// rows is held out. Training stops after ten consecutive rounds that reduce the lowest loss on these rows by less than
/// 0.0001. The weights with the lowest loss are kept.
///
/// Features and labels are scaled to mean 0 and standard deviation 1. Scikit-learn leaves the
/// scaling to its users. The reference results in `BENCHMARKS.md` were computed without scaling,
/// and the worst of those predictions differ from the labels by thousands.
pub(super) struct Perceptron {
    network: Network,
    inputs: Vec<Scale>,
    label: Scale,
}

const HIDDEN: usize = 100;
const BATCH: usize = 200;
const ROUNDS: usize = 200;
const PATIENCE: usize = 10;
const TOLERANCE: f64 = 1e-4;
const HELD_OUT: f64 = 0.1;
const ADAM: Adam = Adam {
    learning_rate: 1e-3,
    weight_decay: 0.0,
    beta1: 0.9,
    beta2: 0.999,
    epsilon: 1e-8,
};

impl Perceptron {
    pub fn fit(rows: &Matrix, labels: &[f64], seed: u64) -> Self {
        let inputs: Vec<Scale> = rows.columns.iter().map(|c| Scale::of(c)).collect();
        let label = Scale::of(labels);
        let scaled: Vec<f32> = labels.iter().map(|y| label.apply(*y) as f32).collect();
        Perceptron {
            network: train(&scaled_rows(rows, &inputs), &scaled, seed),
            inputs,
            label,
        }
    }
}

impl Predictor for Perceptron {
    fn predict(&self, rows: &Matrix) -> Result<Vec<f64>, BaselineError> {
        let scaled = self.network.outputs(scaled_rows(rows, &self.inputs));
        let value = |z: f32| self.label.undo(f64::from(z));
        Ok(scaled.into_iter().map(value).collect())
    }
}

/// The scaled features of each row.
fn scaled_rows(rows: &Matrix, inputs: &[Scale]) -> Array2<f32> {
    Array2::from_shape_fn((rows.rows, inputs.len()), |(row, column)| {
        inputs[column].apply(rows.columns[column][row]) as f32
    })
}

/// A linear layer: weighted sums of its inputs, plus biases.
struct Layer {
    weights: Weight,
    biases: ParamId,
}

/// A network of two layers, with its weights and biases.
struct Network {
    parameters: Parameters<f32>,
    layers: [Layer; 2],
}

impl Network {
    /// Draws weights and biases from uniform distributions. The variance is chosen so that signals
    /// neither grow nor shrink from layer to layer (Glorot and Bengio, 2010).
    fn new(features: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut parameters = Parameters::new();
        let mut layer = |name: &str, from: usize, to: usize| {
            let bound = (6.0 / (from + to) as f32).sqrt();
            let mut uniform = |shape: (usize, usize)| {
                Array2::from_shape_simple_fn(shape, || rng.random_range(-bound..bound))
            };
            let (weights, biases) = (uniform((to, from)), uniform((1, to)));
            Layer {
                weights: Weight {
                    id: parameters.add(format!("{name}.weight"), &[to, from], weights),
                    layout: Layout::OutIn,
                    inputs: 0..from,
                },
                biases: parameters.add(format!("{name}.bias"), &[to], biases),
            }
        };
        let layers = [
            layer("hidden", features, HIDDEN),
            layer("output", HIDDEN, 1),
        ];
        Network { parameters, layers }
    }

    /// Records the computation of the outputs, one per row, on a tape.
    fn forward(&self, tape: &mut Tape<'_, f32>, rows: Array2<f32>) -> Var {
        let [hidden, output] = &self.layers;
        let rows = tape.input(rows);
        let sums = tape.linear(rows, hidden.weights.clone(), Some(hidden.biases));
        let hidden = tape.activate(sums, Activation::RELU);
        tape.linear(hidden, output.weights.clone(), Some(output.biases))
    }

    /// The output for each row.
    fn outputs(&self, rows: Array2<f32>) -> Vec<f32> {
        let mut tape = Tape::without_gradients(&self.parameters);
        let outputs = self.forward(&mut tape, rows);
        tape.value(outputs).iter().copied().collect()
    }

    /// The mean squared error.
    fn loss(&self, rows: Array2<f32>, labels: &[f32]) -> f64 {
        let outputs = self.outputs(rows);
        let errors = outputs.iter().zip(labels).map(|(z, y)| f64::from(z - y));
        errors.map(|error| error * error).sum::<f64>() / labels.len() as f64
    }

    /// The gradients of the mean squared error.
    fn gradients(&self, rows: Array2<f32>, labels: &[f32]) -> Gradients<f32> {
        let mut gradients = Gradients::zero(&self.parameters);
        let mut tape = Tape::new(&self.parameters);
        let outputs = self.forward(&mut tape, rows);
        // The derivative of (z - y)² / n with respect to z.
        let mut slopes = tape.value(outputs).clone();
        for (slope, label) in slopes.iter_mut().zip(labels) {
            *slope = 2.0 * (*slope - label) / labels.len() as f32;
        }
        tape.backward(outputs, slopes, &mut gradients);
        gradients
    }
}

/// Trains a network until the loss on the held-out rows stops improving.
fn train(rows: &Array2<f32>, labels: &[f32], seed: u64) -> Network {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut network = Network::new(rows.ncols(), &mut rng);
    let mut adam = AdamState::new(&network.parameters);
    let (held, mut order) = split(labels.len(), &mut rng);
    let (held_rows, held_labels) = choose(rows, labels, &held);
    let mut best = (f64::INFINITY, network.parameters.clone());
    let mut idle = 0;
    for _ in 0..ROUNDS {
        order.shuffle(&mut rng);
        for batch in order.chunks(BATCH) {
            let (rows, labels) = choose(rows, labels, batch);
            let gradients = network.gradients(rows, &labels);
            ADAM.step(&mut network.parameters, &gradients, &mut adam);
        }
        let loss = network.loss(held_rows.clone(), &held_labels);
        idle = if loss > best.0 - TOLERANCE {
            idle + 1
        } else {
            0
        };
        if loss < best.0 {
            best = (loss, network.parameters.clone());
        }
        if idle == PATIENCE {
            break;
        }
    }
    network.parameters = best.1;
    network
}

/// The held-out rows, and the remaining rows. If there are too few rows to hold any out, both parts
/// contain all rows.
fn split(rows: usize, rng: &mut ChaCha8Rng) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(rng);
    match (rows as f64 * HELD_OUT) as usize {
        0 => (order.clone(), order),
        held => {
            let rest = order.split_off(held);
            (order, rest)
        }
    }
}

/// The rows with the indices `chosen`, and their labels.
fn choose(rows: &Array2<f32>, labels: &[f32], chosen: &[usize]) -> (Array2<f32>, Vec<f32>) {
    let labels = chosen.iter().map(|&row| labels[row]).collect();
    (rows.select(Axis(0), chosen), labels)
}
