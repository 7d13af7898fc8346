//! Writes variables and their initial values.

use super::nodes::Nodes;
use crate::synth::network::{Network, Op, Step};

/// Adds a parameter with its initial value. Returns the name of the operation that reads it.
pub(super) fn parameter(step: &Step, nodes: &mut Nodes) -> String {
    let initial = match step.op {
        Op::Parameter { random: true } => uniform(&step.name, &step.shape, nodes),
        _ => nodes.constant(
            &format!("{}/Initializer/zeros", step.name),
            &step.shape,
            0.0,
        ),
    };
    variable(&step.name, &step.shape, &initial, nodes)
}

/// Adds random values, drawn uniformly from -0.05 to 0.05.
fn uniform(name: &str, shape: &[u64], nodes: &mut Nodes) -> String {
    let name = format!("{name}/Initializer/random_uniform");
    let sizes = nodes.sizes(&format!("{name}/shape"), shape);
    let least = nodes.constant(&format!("{name}/min"), &[], -0.05);
    let most = nodes.constant(&format!("{name}/max"), &[], 0.05);
    let drawn = nodes.float(
        &format!("{name}/RandomUniform"),
        "RandomUniform",
        &[&sizes],
        shape,
    );
    let range = nodes.float(&format!("{name}/sub"), "Sub", &[&most, &least], &[]);
    let scaled = nodes.float(&format!("{name}/mul"), "Mul", &[&drawn, &range], shape);
    nodes.float(&name, "Add", &[&scaled, &least], shape)
}

/// Adds a variable that starts with the value of `initial`. Returns the name of the operation that
/// reads it.
pub(super) fn variable(name: &str, shape: &[u64], initial: &str, nodes: &mut Nodes) -> String {
    let variable = nodes.variable(name, shape);
    nodes.float(
        &format!("{name}/Assign"),
        "Assign",
        &[&variable, initial],
        shape,
    );
    nodes.float(&format!("{name}/read"), "Identity", &[&variable], shape)
}

/// The names of the network's parameters.
pub(super) fn assigned(network: &Network) -> Vec<String> {
    network
        .parameters()
        .map(|(_, step)| step.name.clone())
        .collect()
}

/// Adds the operation that assigns the initial values of all variables.
pub(super) fn start(variables: &[String], nodes: &mut Nodes) {
    let after: Vec<String> = variables
        .iter()
        .map(|name| format!("^{name}/Assign"))
        .collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    nodes.effect("init", "NoOp", &after);
}
