//! The Adam optimiser.

use ndarray::Array2;

use super::{Gradients, Parameters, Real};

/// Adam (Kingma and Ba 2015) with weight decay added to the gradient, as in PyTorch's `Adam`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// The learning rate.
    pub learning_rate: f64,
    /// The weight decay: this fraction of each weight is added to the weight's gradient.
    pub weight_decay: f64,
    /// The decay rate of the moving mean of gradients: the fraction of the mean that each step keeps.
    pub beta1: f64,
    /// The decay rate of the moving mean of squared gradients: the fraction of the mean that each step keeps.
    pub beta2: f64,
    /// Added to the divisor of a step, which is the square root of the mean squared gradient.
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

/// The state that Adam keeps between steps.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamState<T> {
    /// The number of steps taken.
    pub steps: u64,
    /// The moving mean of each parameter's gradient.
    pub mean: Vec<Array2<T>>,
    /// The moving mean of each parameter's squared gradient.
    pub square: Vec<Array2<T>>,
}

impl<T: Real> AdamState<T> {
    /// The state before the first step.
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
    /// Takes one step in the direction opposite to `gradients`. Only trained parameters change.
    pub fn step<T: Real>(
        &self,
        parameters: &mut Parameters<T>,
        gradients: &Gradients<T>,
        state: &mut AdamState<T>,
    ) {
        state.steps += 1;
        let steps = state.steps as f64;
        // Both means start at zero, so they are too small at first. To correct this, each mean is
        // divided by `1 - beta^steps`. For example, with beta 0.9 and a first gradient of 1, the
        // mean is 0.1. Dividing it by 1 - 0.9 gives 1, the gradient itself.
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
