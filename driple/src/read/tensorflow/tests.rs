//! GraphDefs written by the library, in both forms, read back.

use proptest::prelude::*;
use prost::Message;
use prost::bytes::Bytes;
use prost_reflect::DynamicMessage;
use prost_reflect::text_format::FormatOptions;

use super::message::{Attr, AttrValue, Dim, GraphDef, ListValue, NodeDef, Tensor, TensorShape};
use super::schema::NODE_DEF;
use crate::graph::{Graph, Shape};
use crate::read::{Format, ReadError, graph};

/// A shape, and what it reads as.
fn shape() -> impl Strategy<Value = (TensorShape, Shape)> {
    let sizes = prop::collection::vec(-1..50i64, 0..4);
    (sizes, prop::bool::weighted(0.1)).prop_map(|(sizes, unknown_rank)| {
        let dim = sizes.iter().map(|size| Dim { size: *size }).collect();
        let dimensions = sizes.iter().map(|size| u64::try_from(*size).ok()).collect();
        let read = if unknown_rank {
            Shape::Unknown
        } else {
            Shape::Dimensions(dimensions)
        };
        (TensorShape { dim, unknown_rank }, read)
    })
}

fn attribute(key: &str, value: AttrValue) -> Attr {
    Attr {
        key: key.to_owned(),
        value: Some(Box::new(value)),
    }
}

/// An operation's type and attributes, and the shape of its output.
fn output() -> impl Strategy<Value = (String, Vec<Attr>, Shape)> {
    let inferred = prop::collection::vec(shape(), 0..3).prop_map(|shapes| {
        let read = shapes.first().map_or(Shape::None, |(_, read)| read.clone());
        let shape = shapes.into_iter().map(|(shape, _)| shape).collect();
        let list = Some(ListValue { shape });
        let value = attribute(
            "_output_shapes",
            AttrValue {
                list,
                ..AttrValue::default()
            },
        );
        (
            "Add".to_owned(),
            vec![attribute("T", AttrValue::default()), value],
            read,
        )
    });
    let constant = shape().prop_map(|(shape, read)| {
        let tensor = Some(Tensor {
            tensor_shape: Some(shape),
        });
        let value = attribute(
            "value",
            AttrValue {
                tensor,
                ..AttrValue::default()
            },
        );
        ("Const".to_owned(), vec![value], read)
    });
    let variable = shape().prop_map(|(shape, read)| {
        let value = attribute(
            "shape",
            AttrValue {
                shape: Some(shape),
                ..AttrValue::default()
            },
        );
        ("VariableV2".to_owned(), vec![value], read)
    });
    prop_oneof![inferred, constant, variable]
}

/// Nodes, and the graph that they read as.
fn nodes() -> impl Strategy<Value = (Vec<NodeDef>, Graph)> {
    let texts = prop::collection::vec(".{0,12}", 0..4);
    let node = (".{0,12}", ".{0,12}", texts, output());
    prop::collection::vec(node, 1..12).prop_map(|nodes| {
        let mut graph = Graph::default();
        let mut defs = Vec::new();
        for (index, (name, device, input, (op, attr, shape))) in nodes.into_iter().enumerate() {
            let name = format!("{name}{index}");
            graph.nodes.push(crate::graph::Node {
                name: name.clone(),
                op: op.clone(),
                device: device.clone(),
                inputs: input.clone(),
                shape,
            });
            defs.push(NodeDef {
                name,
                op,
                input,
                device,
                attr,
            });
        }
        (defs, graph)
    })
}

/// The text of nodes, laid out over lines or not.
fn text(nodes: &[NodeDef], pretty: bool) -> Result<String, prost::DecodeError> {
    let mut text = String::new();
    for node in nodes {
        let mut message = DynamicMessage::new(NODE_DEF.clone());
        message.transcode_from(node)?;
        let options = FormatOptions::new().pretty(pretty);
        text += &format!(
            "node {{\n{}\n}}\n",
            message.to_text_format_with_options(&options)
        );
    }
    Ok(text)
}

fn binary(nodes: &[NodeDef]) -> Vec<u8> {
    let node = nodes
        .iter()
        .map(|node| Bytes::from(node.encode_to_vec()))
        .collect();
    GraphDef { node }.encode_to_vec()
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn a_written_graph_reads_back((defs, expected) in nodes(), pretty: bool) {
        let text = text(&defs, pretty).unwrap();
        prop_assert_eq!(graph(text, Format::GraphDefText).unwrap(), expected.clone());
        prop_assert_eq!(graph(binary(&defs), Format::GraphDef).unwrap(), expected);
    }

    #[test]
    fn a_damaged_binary_is_no_panic((defs, _) in nodes(), at: prop::sample::Index, byte: u8) {
        let mut bytes = binary(&defs);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = graph(bytes.clone(), Format::GraphDef);
        let _ = graph(bytes, Format::Onnx);
    }
}

/// Small fixed example.
#[test]
fn faults_of_binary_nodes_name_them() {
    let node = |name: &str, op: &str| NodeDef {
        name: name.to_owned(),
        op: op.to_owned(),
        ..NodeDef::default()
    };
    let fault = |nodes: &[NodeDef]| {
        graph(binary(nodes), Format::GraphDef)
            .unwrap_err()
            .to_string()
    };
    let same = fault(&[node("a", "Add"), node("a", "Add")]);
    assert_eq!(
        same,
        "node 2 `a`: node 1 has that name already: give each node a name of its own"
    );
    let none = fault(&[node("a", "Add"), node("", "Add")]);
    assert_eq!(
        none,
        "node 2: it has no `name`: give it one that no other node has"
    );
    let broken = GraphDef {
        node: vec![Bytes::from_static(&[0x0a, 9, b'a'])],
    }
    .encode_to_vec();
    let broken = graph(broken, Format::GraphDef).unwrap_err();
    assert!(matches!(broken, ReadError::Node { .. }), "{broken}");
    assert!(
        broken.to_string().starts_with("node 1: failed to decode"),
        "{broken}"
    );
}
