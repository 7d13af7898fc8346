//! The graph that TensorFlow 1 uses to train a network. The input is on the CPU. The variables with
//! their initial values, the forward pass, the gradients and the optimiser are on a GPU.

mod backward;
mod forward;
mod input;
mod nodes;
mod optimiser;
mod text;
mod variables;

use super::network::Network;
use nodes::Nodes;
pub(super) use optimiser::Optimiser;

/// The graph as a GraphDef in text format.
pub(super) fn text(network: &Network, optimiser: Optimiser) -> String {
    text::write(&nodes(network, optimiser))
}

/// The number of operations on the GPU that run in a training step.
pub(super) fn operations(network: &Network, optimiser: Optimiser) -> usize {
    let on_gpu = |op: &&nodes::Operation| {
        let idle = [
            "Const",
            "VariableV2",
            "Assign",
            "RandomUniform",
            "NoOp",
            "Fill",
        ];
        op.device == nodes::GPU && !idle.contains(&op.op.as_str())
    };
    nodes(network, optimiser)
        .operations
        .iter()
        .filter(on_gpu)
        .count()
}

/// The graph that trains a network.
fn nodes(network: &Network, optimiser: Optimiser) -> Nodes {
    let mut nodes = Nodes::default();
    let tensors = forward::write(network, &mut nodes);
    let gradients = backward::write(network, &tensors, &mut nodes);
    let mut assigned = variables::assigned(network);
    let updates: Vec<_> = network
        .parameters()
        .map(|(value, step)| (step, &gradients[value]))
        .collect();
    assigned.extend(optimiser::write(&updates, optimiser, &mut nodes));
    variables::start(&assigned, &mut nodes);
    nodes
}
