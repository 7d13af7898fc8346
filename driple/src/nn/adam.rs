//! The Adam optimiser.

use ndarray::Array2;

use super::{Gradients, Parameters, Real};

/// Adam with weight decay added to the gradient, as PyTorch's `Adam` has it (Kingma and Ba 2015).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// How fast it learns.
    pub learning_rate: f64,
    /// The share of each weight added to its gradient.
    pub weight_decay: f64,
    /// How much of the mean gradient stays from step to step.
    pub beta1: f64,
    /// How much of the mean squared gradient stays from step to step.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self {
            learning_rate: 0.003,
            weight_decay: 1e-6,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }
}

/// What Adam remembers from step to step.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamState<T> {
    /// How many steps were taken.
    pub steps: u64,
    /// The mean gradient of each parameter.
    pub mean: Vec<Array2<T>>,
    /// The mean squared gradient of each parameter.
    pub square: Vec<Array2<T>>,
}

impl<T: Real> AdamState<T> {
    /// Before the first step.
    #[must_use]
    pub fn new(parameters: &Parameters<T>) -> Self {
        let zeros = || {
            parameters
                .ids()
                .map(|id| Array2::zeros(parameters[id].raw_dim()))
        };
        Self {
            steps: 0,
            mean: zeros().collect(),
            square: zeros().collect(),
        }
    }
}

impl Adam {
    /// Takes a step against `gradients`, changing the parameters that are trained.
    pub fn step<T: Real>(
        &self,
        parameters: &mut Parameters<T>,
        gradients: &Gradients<T>,
        state: &mut AdamState<T>,
    ) {
        state.steps += 1;
        let steps = state.steps as f64;
        let rate = T::of(self.learning_rate / (1.0 - self.beta1.powf(steps)));
        let root = T::of((1.0 - self.beta2.powf(steps)).sqrt());
        let (beta1, beta2) = (T::of(self.beta1), T::of(self.beta2));
        let (decay, epsilon) = (T::of(self.weight_decay), T::of(self.epsilon));
        for id in parameters.ids() {
            if !parameters.is_trained(id) {
                continue;
            }
            let moments = state.mean[id.0]
                .iter_mut()
                .zip(state.square[id.0].iter_mut());
            let values = parameters[id].iter_mut().zip(&gradients[id]);
            for ((mean, square), (value, &gradient)) in moments.zip(values) {
                let gradient = gradient + decay * *value;
                *mean = beta1 * *mean + (T::one() - beta1) * gradient;
                *square = beta2 * *square + (T::one() - beta2) * gradient * gradient;
                *value -= rate * *mean / (square.sqrt() / root + epsilon);
            }
        }
    }
}
