//! Multilayer perceptron, by the library candle.

use candle_core::{Device, Result, Tensor, Var};
use candle_nn::{AdamW, Linear, Module, Optimizer, ParamsAdamW, loss};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::encoding::Matrix;
use super::scale::Scale;
use super::{BaselineError, Predictor};

/// Settings are those of scikit-learn's `MLPRegressor(early_stopping=True)`: one hidden layer of
/// 100 rectified linear units, Adam at a rate of 0.001 on batches of 200 rows. A tenth of the rows
/// is held out. Training ends after ten rounds in a row that improve the loss on these rows by less
/// than 0.0001, and the best weights are kept.
///
/// Features and label are scaled to mean 0 and deviation 1. scikit-learn leaves this to its user;
/// the reference did not do it, and its worst predictions are wrong by thousands.
pub(super) struct Perceptron {
    network: Network,
    inputs: Vec<Scale>,
    label: Scale,
}

const HIDDEN: usize = 100;
const BATCH: usize = 200;
const RATE: f64 = 1e-3;
const ROUNDS: usize = 200;
const PATIENCE: usize = 10;
const TOLERANCE: f32 = 1e-4;
const HELD_OUT: f64 = 0.1;

impl Perceptron {
    pub fn fit(
        rows: &Matrix,
        labels: &[f64],
        seed: u64,
    ) -> std::result::Result<Self, BaselineError> {
        let inputs: Vec<Scale> = rows.columns.iter().map(|c| Scale::of(c)).collect();
        let label = Scale::of(labels);
        let scaled: Vec<f32> = labels.iter().map(|y| label.apply(*y) as f32).collect();
        let train = || {
            let labels = Tensor::new(scaled, &Device::Cpu)?;
            train(&tensor(rows, &inputs)?, &labels, seed)
        };
        Ok(Perceptron {
            network: train().map_err(error)?,
            inputs,
            label,
        })
    }
}

impl Predictor for Perceptron {
    fn predict(&self, rows: &Matrix) -> std::result::Result<Vec<f64>, BaselineError> {
        let answer = || -> Result<Vec<f32>> {
            let features = tensor(rows, &self.inputs)?;
            self.network.forward(&features)?.to_vec1()
        };
        let scaled = answer().map_err(error)?;
        let value = |z: f32| self.label.undo(f64::from(z));
        Ok(scaled.into_iter().map(value).collect())
    }
}

fn error(error: candle_core::Error) -> BaselineError {
    BaselineError::of("candle")(error.to_string())
}

/// The scaled features as a tensor, with a row for each row.
fn tensor(rows: &Matrix, inputs: &[Scale]) -> Result<Tensor> {
    let columns = rows.columns.iter().zip(inputs);
    let scaled = columns.flat_map(|(column, scale)| column.iter().map(|x| scale.apply(*x) as f32));
    let shape = (inputs.len(), rows.rows);
    Tensor::from_vec(scaled.collect(), shape, &Device::Cpu)?
        .t()?
        .contiguous()
}

/// The two layers of the network, and their weights and biases as variables.
struct Network {
    vars: Vec<Var>,
    layers: [Linear; 2],
}

impl Network {
    /// Draws weights and biases from uniform distributions. Their variance keeps signals from
    /// growing or shrinking from layer to layer (Glorot and Bengio, 2010).
    fn new(features: usize, rng: &mut ChaCha8Rng) -> Result<Self> {
        let mut vars = Vec::new();
        let mut layer = |from: usize, to: usize| -> Result<Linear> {
            let bound = (6.0 / (from + to) as f32).sqrt();
            let mut uniform = |shape: &[usize]| {
                let values = (0..shape.iter().product()).map(|_| rng.random_range(-bound..bound));
                Var::from_vec(values.collect::<Vec<f32>>(), shape, &Device::Cpu)
            };
            let (weights, biases) = (uniform(&[to, from])?, uniform(&[to])?);
            let layer = Linear::new(
                weights.as_tensor().clone(),
                Some(biases.as_tensor().clone()),
            );
            vars.extend([weights, biases]);
            Ok(layer)
        };
        let layers = [layer(features, HIDDEN)?, layer(HIDDEN, 1)?];
        Ok(Network { vars, layers })
    }

    /// The output for each row.
    fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let hidden = self.layers[0].forward(rows)?.relu()?;
        self.layers[1].forward(&hidden)?.squeeze(1)
    }

    fn loss(&self, rows: &Tensor, labels: &Tensor) -> Result<Tensor> {
        loss::mse(&self.forward(rows)?, labels)
    }

    /// Copies of the weights and biases.
    fn weights(&self) -> Result<Vec<Tensor>> {
        self.vars.iter().map(|var| var.copy()).collect()
    }

    fn restore(&self, weights: &[Tensor]) -> Result<()> {
        self.vars
            .iter()
            .zip(weights)
            .try_for_each(|(var, best)| var.set(best))
    }
}

/// Trains a network until the loss on the held-out rows no longer improves.
fn train(rows: &Tensor, labels: &Tensor, seed: u64) -> Result<Network> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let network = Network::new(rows.dim(1)?, &mut rng)?;
    let settings = ParamsAdamW {
        lr: RATE,
        weight_decay: 0.0,
        ..ParamsAdamW::default()
    };
    let mut adam = AdamW::new(network.vars.clone(), settings)?;
    let (held, mut order) = split(labels.dim(0)?, &mut rng);
    let (held_rows, held_labels) = (choose(rows, &held)?, choose(labels, &held)?);
    let mut best = (f32::INFINITY, network.weights()?);
    let mut idle = 0;
    for _ in 0..ROUNDS {
        order.shuffle(&mut rng);
        round(&network, &mut adam, rows, labels, &order)?;
        let loss: f32 = network.loss(&held_rows, &held_labels)?.to_scalar()?;
        idle = if loss > best.0 - TOLERANCE {
            idle + 1
        } else {
            0
        };
        if loss < best.0 {
            best = (loss, network.weights()?);
        }
        if idle == PATIENCE {
            break;
        }
    }
    network.restore(&best.1)?;
    Ok(network)
}

/// One round of training: a step for each batch.
fn round(
    network: &Network,
    adam: &mut AdamW,
    rows: &Tensor,
    labels: &Tensor,
    order: &[u32],
) -> Result<()> {
    for batch in order.chunks(BATCH) {
        let loss = network.loss(&choose(rows, batch)?, &choose(labels, batch)?)?;
        adam.backward_step(&loss)?;
    }
    Ok(())
}

/// The rows to hold out, and the others. If there are too few rows to hold one out, all rows are in
/// both parts.
fn split(rows: usize, rng: &mut ChaCha8Rng) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.shuffle(rng);
    match (rows as f64 * HELD_OUT) as usize {
        0 => (order.clone(), order),
        held => {
            let rest = order.split_off(held);
            (order, rest)
        }
    }
}

fn choose(values: &Tensor, rows: &[u32]) -> Result<Tensor> {
    values.index_select(&Tensor::new(rows, &Device::Cpu)?, 0)
}
