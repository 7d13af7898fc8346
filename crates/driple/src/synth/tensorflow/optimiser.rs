//! Writes the optimiser, which updates the parameters in each step.

use super::nodes::Nodes;
use super::variables::variable;
use crate::synth::network::Step;

/// The optimisers that sample jobs are trained with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth) enum Optimiser {
    /// Stochastic gradient descent.
    Descent,
    /// Gradient descent with momentum. It keeps one additional tensor per parameter.
    Momentum,
    /// Adam. It keeps two additional tensors per parameter.
    Adam,
}

impl Optimiser {
    /// All optimisers.
    pub(in crate::synth) const ALL: [Self; 3] = [Self::Descent, Self::Momentum, Self::Adam];

    /// The optimiser's name, as it occurs in the names of jobs.
    pub(in crate::synth) fn name(self) -> &'static str {
        match self {
            Self::Descent => "sgd",
            Self::Momentum => "momentum",
            Self::Adam => "adam",
        }
    }

    /// The number of tensors that the optimiser keeps per parameter, including the parameter
    /// itself.
    pub(in crate::synth) fn tensors(self) -> u64 {
        match self {
            Self::Descent => 1,
            Self::Momentum => 2,
            Self::Adam => 3,
        }
    }

    /// The names of the tensors that the optimiser keeps in addition to the parameter.
    fn slots(self) -> &'static [&'static str] {
        match self {
            Self::Descent => &[],
            Self::Momentum => &["Momentum"],
            Self::Adam => &["Adam", "Adam_1"],
        }
    }

    /// The optimiser's constants by name. All parameters share them.
    fn numbers(self) -> &'static [(&'static str, f32)] {
        match self {
            Self::Descent => &[("train/learning_rate", 0.01)],
            Self::Momentum => &[("train/learning_rate", 0.01), ("train/momentum", 0.9)],
            Self::Adam => &[
                ("train/learning_rate", 0.001),
                ("train/beta1", 0.9),
                ("train/beta2", 0.999),
                ("train/epsilon", 1e-8),
            ],
        }
    }
}

/// Adds the operations that update the parameters with their gradients. Returns the names of the
/// added variables.
pub(super) fn write(
    updates: &[(&Step, &String)],
    optimiser: Optimiser,
    nodes: &mut Nodes,
) -> Vec<String> {
    let mut variables = Vec::new();
    for (name, value) in optimiser.numbers() {
        nodes.constant(name, &[], *value);
    }
    let powers: &[&str] = match optimiser {
        Optimiser::Adam => &["beta1_power", "beta2_power"],
        Optimiser::Descent | Optimiser::Momentum => &[],
    };
    for power in powers {
        slot(power, &[], nodes, &mut variables);
    }
    let mut done = Vec::new();
    for (step, gradient) in updates {
        let slots = optimiser
            .slots()
            .iter()
            .map(|slot| format!("{}/{slot}", step.name));
        let slots: Vec<String> = slots.collect();
        for name in &slots {
            slot(name, &step.shape, nodes, &mut variables);
        }
        done.push(format!(
            "^{}",
            update(step, gradient, &slots, optimiser, nodes)
        ));
    }
    for (power, beta) in powers.iter().zip(["train/beta1", "train/beta2"]) {
        let name = format!("train/{power}");
        let after: Vec<&str> = done.iter().map(String::as_str).collect();
        let product = nodes.float(&name, "Mul", &[&[*power, beta], &after[..]].concat(), &[]);
        nodes.float(&format!("{name}/Assign"), "Assign", &[power, &product], &[]);
    }
    let after: Vec<&str> = done.iter().map(String::as_str).collect();
    nodes.effect("train", "NoOp", &after);
    variables
}

/// Adds a variable with initial values of zero, and adds its name to `variables`.
fn slot(name: &str, shape: &[u64], nodes: &mut Nodes, variables: &mut Vec<String>) {
    let zeros = nodes.constant(&format!("{name}/Initializer/zeros"), shape, 0.0);
    variable(name, shape, &zeros, nodes);
    variables.push(name.to_owned());
}

/// Adds the operation that updates one parameter. Returns the name of the operation.
fn update(
    step: &Step,
    gradient: &str,
    slots: &[String],
    optimiser: Optimiser,
    nodes: &mut Nodes,
) -> String {
    let mut inputs = vec![step.name.as_str()];
    inputs.extend(slots.iter().map(String::as_str));
    let (op, rate) = match optimiser {
        Optimiser::Descent => ("ApplyGradientDescent", "train/learning_rate"),
        Optimiser::Momentum => ("ApplyMomentum", "train/learning_rate"),
        Optimiser::Adam => ("ApplyAdam", "train/learning_rate"),
    };
    match optimiser {
        Optimiser::Descent => inputs.extend([rate, gradient]),
        Optimiser::Momentum => inputs.extend([rate, gradient, "train/momentum"]),
        Optimiser::Adam => {
            inputs.extend(["beta1_power/read", "beta2_power/read", rate]);
            inputs.extend(["train/beta1", "train/beta2", "train/epsilon", gradient]);
        }
    }
    nodes.float(
        &format!("train/update_{}/{op}", step.name),
        op,
        &inputs,
        &step.shape,
    )
}
