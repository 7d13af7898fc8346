//! Tests the reader on hand-made ONNX models: names of nodes, faults, and graphs in attributes.

mod shapes;

use prost::Message;

use super::message::{
    Attribute, Dim, Graph, Model, Node, SparseTensor, Tensor, TensorShape, TensorType, Type,
    ValueInfo, data_type,
};
use crate::read::{Format, ReadError, graph};

fn node(op: &str, name: &str, inputs: &[&str], outputs: &[&str]) -> Node {
    Node {
        input: inputs.iter().map(|input| (*input).to_owned()).collect(),
        output: outputs.iter().map(|output| (*output).to_owned()).collect(),
        name: name.to_owned(),
        op_type: op.to_owned(),
        attribute: Vec::new(),
    }
}

/// A node with integer attributes.
fn with(mut node: Node, attributes: &[(&str, &[i64])]) -> Node {
    let attribute = |(name, ints): &(&str, &[i64])| Attribute {
        name: (*name).to_owned(),
        i: ints.first().copied().unwrap_or_default(),
        ints: ints.to_vec(),
        ..Attribute::default()
    };
    node.attribute.extend(attributes.iter().map(attribute));
    node
}

fn info(name: &str, shape: &[Option<i64>]) -> ValueInfo {
    let dim = shape.iter().map(|size| Dim { dim_value: *size }).collect();
    let shape = Some(TensorShape { dim });
    let tensor_type = Some(TensorType {
        elem_type: data_type::FLOAT,
        shape,
    });
    ValueInfo {
        name: name.to_owned(),
        r#type: Some(Type { tensor_type }),
    }
}

fn tensor(name: &str, dims: &[i64], int64_data: &[i64]) -> Tensor {
    let (data_type, int64_data) = (data_type::INT64, int64_data.to_vec());
    Tensor {
        dims: dims.to_vec(),
        data_type,
        int64_data,
        name: name.to_owned(),
        ..Tensor::default()
    }
}

fn read(graph: Graph) -> Result<crate::graph::Graph, ReadError> {
    let model = Model {
        graph: Some(graph),
        ..Model::default()
    };
    crate::read::graph(model.encode_to_vec(), Format::Onnx)
}

fn fault(nodes: Vec<Node>) -> String {
    let input = vec![info("x", &[Some(2)])];
    read(Graph {
        node: nodes,
        input,
        ..Graph::default()
    })
    .unwrap_err()
    .to_string()
}

/// Names that collide or contain `:` or `^` are changed, and inputs refer to nodes by the new
/// names.
#[test]
fn names_are_unique_and_inputs_name_nodes() {
    let nodes = vec![
        node("Split", "", &["x:0"], &["a", "b"]),
        node("Add", "x_0", &["a", "b"], &["y"]),
        node("Clip", "", &["y", "", "w"], &["", "z"]),
        node("Sink", "^s", &["z", "sparse"], &[]),
    ];
    let sparse = SparseTensor {
        values: Some(tensor("sparse", &[1], &[7])),
        dims: vec![5, 6],
    };
    let model = Graph {
        node: nodes,
        input: vec![info("x:0", &[None, Some(4)]), info("w", &[])],
        initializer: vec![tensor("w", &[3], &[1, 2, 3])],
        sparse_initializer: vec![sparse],
        ..Graph::default()
    };
    let read = read(model).unwrap();
    let lines: Vec<String> = read
        .nodes
        .iter()
        .map(|node| {
            format!(
                "{} {} {} {:?}",
                node.op,
                node.name,
                node.inputs.join(","),
                node.shape
            )
        })
        .collect();
    let expected = [
        "Const w  Dimensions([Some(3)])",
        "Const sparse  Dimensions([Some(5), Some(6)])",
        "Placeholder x_0  Dimensions([None, Some(4)])",
        "Split Split_0 x_0 Dimensions([None, Some(4)])",
        "Add x_0_1 Split_0,Split_0:1 Dimensions([None, Some(4)])",
        "Clip Clip_2 x_0_1,w Unknown",
        "Sink _s Clip_2:1,sparse None",
    ];
    assert_eq!(lines, expected);
}

/// Each error message names the faulty node and describes its fault.
#[test]
fn faults_name_the_node() {
    let cases = [
        (
            vec![node("Relu", "r", &["nowhere"], &["y"])],
            "node 1 `r`: its input `nowhere` is neither an input of the model nor \
             an output of a node",
        ),
        (
            vec![
                node("Relu", "", &["x"], &["y"]),
                node("Relu", "", &["x"], &["y"]),
            ],
            "node 2: its output `y` is also an output of another node or an input of the model",
        ),
        (
            vec![node("", "n", &["x"], &["y"])],
            "node 1 `n`: it has no `op_type`, the type of its operation",
        ),
        (
            vec![],
            "there are no nodes: expected an ONNX model with at least one node",
        ),
    ];
    for (nodes, expected) in cases {
        assert_eq!(fault(nodes), expected);
    }
    let error = graph("no model", Format::Onnx).unwrap_err().to_string();
    assert!(
        error.starts_with("this is not an ONNX model: failed to decode"),
        "{error}"
    );
}

/// A value that a branch uses but does not define is an input of the node that contains the branch.
#[test]
fn graphs_in_attributes_take_values_from_outside() {
    let inner = Graph {
        node: vec![
            node("Add", "", &["inside", "a"], &["sum"]),
            node("Relu", "", &["sum"], &["out"]),
        ],
        initializer: vec![tensor("inside", &[], &[1])],
        output: vec![info("out", &[]), info("b", &[])],
        ..Graph::default()
    };
    let mut branch = node("If", "if", &["x"], &["y"]);
    branch.attribute.push(Attribute {
        g: Some(Box::new(inner)),
        ..Attribute::default()
    });
    let mut outer = node("Loop", "loop", &["x"], &["z"]);
    let body = Graph {
        node: vec![branch.clone()],
        ..Graph::default()
    };
    outer.attribute.push(Attribute {
        graphs: vec![body],
        ..Attribute::default()
    });
    let split = node("Split", "s", &["x"], &["a", "b"]);
    let input = vec![info("x", &[])];
    let model = Graph {
        node: vec![split, branch, outer],
        input,
        ..Graph::default()
    };
    let read = read(model).unwrap();
    assert_eq!(read.nodes[2].inputs, ["x", "s", "s:1"]);
    assert_eq!(read.nodes[3].inputs, ["x", "s", "s:1", "x"]);
}

/// Many short references to a node with a long name take little memory.
#[test]
fn long_names_are_cut() {
    let name = "é".repeat(100_000);
    let inputs = vec!["x"; 10_000];
    let nodes = vec![
        node("Relu", &name, &["i"], &["x"]),
        node("Sum", &name, &inputs, &["y"]),
    ];
    let read = read(Graph {
        node: nodes,
        input: vec![info("i", &[])],
        ..Graph::default()
    })
    .unwrap();
    assert_eq!(read.nodes[1].name, "é".repeat(250));
    assert_eq!(read.nodes[2].name, format!("{}_1", read.nodes[1].name));
    assert!(
        read.nodes[2]
            .inputs
            .iter()
            .all(|input| *input == read.nodes[1].name)
    );
}
