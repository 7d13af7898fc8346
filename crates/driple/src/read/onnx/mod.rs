//! Reads ONNX models.

mod infer;
pub(crate) mod message;
mod names;
mod tensors;
#[cfg(test)]
mod tests;

use prost::Message;
use prost::bytes::Bytes;

use self::names::{Names, Values};
use self::tensors::Tensors;
use super::{Format, NodeFault, Place, ReadError};
use crate::graph::{Graph, Node, Shape};

/// The device of all nodes. ONNX does not record devices, so models are assumed to be trained on a
/// GPU.
const DEVICE: &str = "GPU";

/// Reads the graph from the bytes of a model: its weights, then its inputs, then its nodes.
pub(super) fn graph(bytes: Bytes) -> Result<Graph, ReadError> {
    let model = message::Model::decode(bytes).map_err(|error| ReadError::Binary {
        format: Format::Onnx,
        reason: error.to_string(),
    })?;
    let Some(graph) = model.graph.filter(|graph| !graph.node.is_empty()) else {
        return Err(ReadError::NoNodes(Format::Onnx));
    };
    let mut tensors = Tensors::of(&graph);
    let (mut nodes, values, named) = sources(&graph, &tensors);
    let (values, named) = operations(&graph, values, named)?;
    for (index, (node, name)) in graph.node.iter().zip(named).enumerate() {
        let inputs = inputs(node, &values).map_err(|fault| at(index, node, fault))?;
        infer::outputs(node, &mut tensors);
        let (name, op, device) = (name, node.op_type.clone(), DEVICE.to_owned());
        let shape = output(node, &tensors);
        nodes.push(Node {
            name,
            op,
            device,
            inputs,
            shape,
        });
    }
    Ok(Graph { nodes })
}

/// The error for a faulty node of the model.
fn at(index: usize, node: &message::Node, fault: NodeFault) -> ReadError {
    let place = Place {
        name: node.name.clone(),
        index,
        line: None,
    };
    ReadError::Node { place, fault }
}

/// Creates the nodes that represent weights and inputs. Also returns the node that each of these
/// values comes from, and the node names in use.
fn sources<'g>(graph: &'g message::Graph, tensors: &Tensors<'g>) -> (Vec<Node>, Values<'g>, Names) {
    let (mut nodes, mut values, mut names) = (Vec::new(), Values::default(), Names::default());
    let constants = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    let sparse = graph
        .sparse_initializer
        .iter()
        .filter_map(|tensor| tensor.values.as_ref());
    let sparse = sparse.map(|values| values.name.as_str());
    let inputs = graph
        .input
        .iter()
        .map(|input| (input.name.as_str(), "Placeholder"));
    let constants = constants.chain(sparse).map(|name| (name, "Const"));
    // If an input and a weight have the same name, the weight is the input's default value. The
    // input and the weight become a single node.
    for (value, op) in constants.chain(inputs) {
        if values.contains(value) {
            continue;
        }
        let name = names.unique(value);
        values.insert(value, name.clone());
        let (op, device) = (op.to_owned(), DEVICE.to_owned());
        let (inputs, shape) = (Vec::new(), tensors.shape(value));
        nodes.push(Node {
            name,
            op,
            device,
            inputs,
            shape,
        });
    }
    (nodes, values, names)
}

/// Adds the outputs of nodes to `values`. Also returns the name of each node.
fn operations<'g>(
    graph: &'g message::Graph,
    mut values: Values<'g>,
    mut names: Names,
) -> Result<(Values<'g>, Vec<String>), ReadError> {
    let mut named = Vec::with_capacity(graph.node.len());
    for (index, node) in graph.node.iter().enumerate() {
        if node.op_type.is_empty() {
            return Err(at(index, node, NodeFault::NoOp("`op_type`")));
        }
        let name = match node.name.as_str() {
            "" => names.unique(&format!("{}_{index}", node.op_type)),
            name => names.unique(name),
        };
        let outputs = node
            .output
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_empty());
        for (output, value) in outputs {
            let reference = names::reference(&name, output);
            if !values.insert(value, reference) {
                return Err(at(index, node, NodeFault::Output(value.clone())));
            }
        }
        named.push(name);
    }
    Ok((values, named))
}

/// The inputs of a node, as references to nodes. They include the values that subgraphs in the node's attributes
/// capture from the enclosing graph.
fn inputs(node: &message::Node, values: &Values<'_>) -> Result<Vec<String>, NodeFault> {
    let mut inputs = Vec::new();
    for value in node.input.iter().filter(|value| !value.is_empty()) {
        let reference = values
            .get(value)
            .ok_or_else(|| NodeFault::Input(value.clone()))?;
        inputs.push(reference.to_owned());
    }
    for value in names::captured(node) {
        if let Some(reference) = values.get(value) {
            inputs.push(reference.to_owned());
        }
    }
    Ok(inputs)
}

/// The shape of a node's first output.
fn output(node: &message::Node, tensors: &Tensors<'_>) -> Shape {
    match node.output.first() {
        Some(value) => tensors.shape(value),
        None => Shape::None,
    }
}
