//! Tests that GraphDefs in both formats can be read back. The prost crate writes the binary files.

use proptest::prelude::*;
use prost::Message;
use prost::bytes::Bytes;

use super::message::{Attr, AttrValue, Dim, GraphDef, ListValue, NodeDef, Tensor, TensorShape};
use crate::graph::{Graph, Shape};
use crate::read::{Format, ReadError, graph};

/// A shape, and the expected result of reading it.
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

/// Nodes, and the graph that the reader should return for them.
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

/// The nodes as text, in TensorFlow's layout if `pretty` is true, or in the most unusual layout
/// that the format allows.
fn text(nodes: &[NodeDef], pretty: bool) -> String {
    let layout = if pretty { Layout::Pretty } else { Layout::Odd };
    nodes
        .iter()
        .map(|node| layout.message("node", &layout.node(node)))
        .collect()
}

/// The layout of the text.
#[derive(Clone, Copy)]
enum Layout {
    Pretty,
    Odd,
}

impl Layout {
    fn message(self, name: &str, inside: &str) -> String {
        match self {
            Layout::Pretty => format!("{name} {{\n{inside}}}\n"),
            Layout::Odd => format!("{name}:<{inside}>,"),
        }
    }

    fn field(self, name: &str, value: &str) -> String {
        match self {
            Layout::Pretty => format!("  {name}: {value}\n"),
            Layout::Odd => format!("{name}:{value};"),
        }
    }

    fn string(self, name: &str, text: &str) -> String {
        let value = match self {
            Layout::Pretty => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
            Layout::Odd => {
                let bytes = text.bytes().enumerate();
                let bytes = bytes.map(|(at, byte)| match at % 2 {
                    0 => format!("'\\{byte:03o}'"),
                    _ => format!("\"\\x{byte:02X}\"#'\n"),
                });
                format!("''{}", bytes.collect::<String>())
            }
        };
        self.field(name, &value)
    }

    fn node(self, node: &NodeDef) -> String {
        let texts = [
            ("name", &node.name),
            ("op", &node.op),
            ("device", &node.device),
        ];
        let texts = texts.map(|(name, text)| self.string(name, text)).concat();
        let inputs = node.input.iter().map(|input| self.string("input", input));
        let attributes = node.attr.iter().map(|attr| {
            let value = attr.value.as_ref().map(|value| self.value(value));
            let value = value.map(|value| self.message("value", &value));
            let inside = self.string("key", &attr.key) + &value.unwrap_or_default();
            self.message("attr", &inside)
        });
        texts + &inputs.chain(attributes).collect::<String>()
    }

    fn value(self, value: &AttrValue) -> String {
        let list = value.list.as_ref().map(|list| {
            let shapes = list.shape.iter().map(|shape| self.shape("shape", shape));
            self.message("list", &shapes.collect::<String>())
        });
        let shape = value.shape.as_ref().map(|shape| self.shape("shape", shape));
        let tensor = value.tensor.as_ref().map(|tensor| {
            let shape = tensor.tensor_shape.as_ref();
            let shape = shape.map(|shape| self.shape("tensor_shape", shape));
            self.message("tensor", &shape.unwrap_or_default())
        });
        [list, shape, tensor].into_iter().flatten().collect()
    }

    fn shape(self, name: &str, shape: &TensorShape) -> String {
        let dim = shape.dim.iter();
        let dim = dim.map(|dim| self.message("dim", &self.field("size", &dim.size.to_string())));
        let rank = self.field("unknown_rank", &shape.unknown_rank.to_string());
        self.message(name, &(dim.collect::<String>() + &rank))
    }
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
        let text = text(&defs, pretty);
        prop_assert_eq!(graph(text, Format::GraphDefText).unwrap(), expected.clone());
        prop_assert_eq!(graph(binary(&defs), Format::GraphDef).unwrap(), expected);
    }

    #[test]
    fn a_damaged_binary_does_not_panic((defs, _) in nodes(), at: prop::sample::Index, byte: u8) {
        let mut bytes = binary(&defs);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = graph(bytes.clone(), Format::GraphDef);
        let _ = graph(bytes, Format::Onnx);
    }
}

/// Errors in binary files name the faulty node by its position, and by its name if it has one.
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
        "node 2 `a`: node 1 already has this name: give each node a unique name"
    );
    let none = fault(&[node("a", "Add"), node("", "Add")]);
    assert_eq!(
        none,
        "node 2: it has no `name`: give it a name that no other node has"
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
