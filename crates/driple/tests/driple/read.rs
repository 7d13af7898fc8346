//! Tests which computational graphs the readers accept and which they reject.

use std::path::Path;

use gleaner_driple::graph::{Graph, Shape};
use gleaner_driple::read::{Format, NodeFault, ReadError, TextFault, graph};
use gleaner_driple::synth::{Setup, samples};
use proptest::prelude::*;

/// A GraphDef that uses most notations of the text format, and fields that are not read.
const GRAPH: &str = r#"# TensorFlow writes no comments, but they are allowed.
node {
  name: "x" op: 'Placeholder'; device: "/device:" "GPU:0"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } }
}
node <
  name: "w\303\251\x2f\"" op: "Const" # }
  attr: < key: "value" value: < tensor < dtype: DT_INT32
    tensor_shape < dim < size: 0x10 > dim { } > tensor_content: "\000}\"" 'more{' > > >
>
node: [{
  name: "y", op: "Add", input: ["x", "^a"], input: "w\303\251/\":1",
  attr { key: "_output_shapes" value { list {
    shape: [{ unknown_rank: true }, { dim { size: 2 } }]
  } } }
  experimental_debug_info { original_node_names: "y" }
  future_field { [type.googleapis.com/a.b] { c: -inf } d: - 1.5e-3f e: true }
  [an.extension]: 5
}, {
  name: "z" op: "Assign"
  attr { key: "_output_shapes" value { list { } } }
  attr { key: "body" value { func { name: "f" attr { key: "T" value { type: DT_FLOAT } } } } }
}]
node { name: "n" op: "NoOp" }
node { name: "v" op: "VarHandleOp" attr { key: "shape" value { shape { dim { size: 7 } } } } }
node { name: "u" op: "Relu" }
library { function { signature { name: "f" } node_def { name: "x" op: "Relu" } } }
versions { producer: 1395 }
"#;

fn text(text: &str) -> Result<Graph, ReadError> {
    graph(text.to_owned(), Format::GraphDefText)
}

/// All notations in [`GRAPH`] give the expected nodes, shapes and inputs.
#[test]
fn a_graph_def_of_every_notation_is_read() {
    let graph = text(GRAPH).unwrap();
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["x", "wé/\"", "y", "z", "n", "v", "u"]);
    let shapes: Vec<Shape> = graph.nodes.iter().map(|node| node.shape.clone()).collect();
    let dimensions = |sizes: &[Option<u64>]| Shape::Dimensions(sizes.to_vec());
    let expected = [
        dimensions(&[None, Some(3)]),
        dimensions(&[Some(16), Some(0)]),
        Shape::Unknown,
        Shape::None,
        Shape::None,
        dimensions(&[]),
        Shape::Unknown,
    ];
    assert_eq!(shapes, expected);
    assert_eq!(graph.nodes[0].op, "Placeholder");
    assert_eq!(graph.nodes[0].device, "/device:GPU:0");
    assert_eq!(graph.nodes[2].inputs, ["x", "^a", "wé/\":1"]);
}

/// Each error message names the line or the node of the fault.
#[test]
fn faults_name_the_line_and_the_node() {
    let cases = [
        (
            "node {\n name: \"a\"\n",
            "line 1: `{` has no matching closing bracket: is the file truncated?",
        ),
        (
            "node {\n name: \"a\n\" }",
            "line 2: this string does not end on its line: is the file truncated?",
        ),
        ("node {\n name: \"a\" ]", "line 2: `]` should be `}`"),
        ("\nnode 5", "line 2: expected `:` or `{`, found `5`"),
        (
            "\n node: 5",
            "line 2: the fields of `node` must be in brackets, \
             as in `node { name: \"a\" op: \"Add\" }`",
        ),
        ("node { name: }", "line 1: expected a value, found `}`"),
        (
            "\n}",
            "line 2: expected the name of a field, such as `node`, found `}`",
        ),
        (
            "\0",
            "line 1: expected the name of a field, such as `node`, found byte 0x00",
        ),
        (
            "versions { }",
            "there are no nodes: expected a TensorFlow GraphDef in text format \
             with at least one node",
        ),
        (
            "\nnode { op: \"A\" }",
            "line 2: node 1: it has no `name`: give it a name that no other node has",
        ),
        (
            "node { name: \"a\" }",
            "line 1: node 1 `a`: it has no `op`, the type of its operation",
        ),
        (
            "node { name: 'a' op: 'A' }\nnode { name: 'b' op: 'A' }\nnode { name: 'a' op: 'B' }",
            "line 3: node 3 `a`: node 1 already has this name: give each node a unique name",
        ),
        (
            "node { name: 'a' op: 'A' }\nnode { op: 'A' input: 5 name: 'b' }",
            "line 2: node 2 `b`: one of its fields is invalid: \
             expected a string, but found '5'",
        ),
        (
            "node { name: 'a' op: 'Const' attr { key: 'value' \
             value { tensor { tensor_shape { dim { size: -2 } } } } } }",
            "line 1: node 1 `a`: its shape has the dimension -2; \
             expected 0 or more, or -1 if the dimension is unknown",
        ),
    ];
    for (file, expected) in cases {
        assert_eq!(text(file).unwrap_err().to_string(), expected, "of {file}");
    }
    let fault = graph("node { }", Format::GraphDef).unwrap_err();
    assert!(
        matches!(
            fault,
            ReadError::Binary {
                format: Format::GraphDef,
                ..
            }
        ),
        "{fault}"
    );
    let empty = graph("", Format::Onnx).unwrap_err();
    assert_eq!(empty, ReadError::NoNodes(Format::Onnx));
}

/// The first fault in the file is reported, regardless of which thread is the first to find a
/// fault.
#[test]
fn the_first_fault_is_reported() {
    let mut file = String::new();
    for index in 0..2_000 {
        let op = if index % 500 == 499 { "" } else { "Add" };
        file.push_str(&format!("node {{ name: 'n{index}' op: '{op}' }}\n"));
    }
    let ReadError::Node { place, fault } = text(&file).unwrap_err() else {
        panic!("not a fault of a node");
    };
    assert_eq!(
        (place.index, place.line, fault),
        (499, Some(500), NodeFault::NoOp("`op`"))
    );
}

/// Brackets nested beyond the limit are rejected, both in fields that are read and in fields that
/// are skipped.
#[test]
fn deep_nesting_is_refused() {
    for (field, open, close) in [
        ("attr", "{value", "}"),
        ("x", "{y", "}"),
        ("x", "[", "]"),
        ("x", "<a", ">"),
    ] {
        for depth in [101, 100_000] {
            let nested = [&*open.repeat(depth), "{}", &*close.repeat(depth)].concat();
            let fault =
                text(&format!("node {{ name: 'a' op: 'A' {field}: {nested} }}")).unwrap_err();
            assert!(
                matches!(
                    fault,
                    ReadError::Text {
                        fault: TextFault::Depth(100),
                        ..
                    }
                ),
                "{fault}"
            );
        }
    }
    let mut bytes = vec![];
    for _ in 0..100_000 {
        bytes.insert(0, 0x0a);
    }
    assert!(graph(bytes.clone(), Format::GraphDef).is_err());
    assert!(graph(bytes, Format::Onnx).is_err());
}

/// Messages are rejected if their stated length exceeds the memory of any machine.
#[test]
fn huge_lengths_are_refused() {
    for tag in [0x0a, 0x3a, 0x42] {
        let bytes = [&[tag][..], &[0xff; 9], &[1]].concat();
        assert!(graph(bytes.clone(), Format::GraphDef).is_err());
        assert!(graph(bytes, Format::Onnx).is_err());
    }
}

/// The extension is the text after the last dot, ignoring case.
#[test]
fn the_format_is_chosen_by_extension() {
    let format = |name: &str| Format::of_path(Path::new(name));
    assert_eq!(format("a/b.pbtxt"), Some(Format::GraphDefText));
    assert_eq!(format("b.PB"), Some(Format::GraphDef));
    assert_eq!(format("a.b.onnx"), Some(Format::Onnx));
    assert_eq!(format("pbtxt"), None);
    assert_eq!(format("a.txt"), None);
}

/// Texts that consist of words and characters of the text format, in any order.
fn soup() -> impl Strategy<Value = String> {
    let pieces = [
        "node",
        " ",
        "{",
        "}",
        "<",
        ">",
        "[",
        "]",
        ":",
        ",",
        ";",
        "\"",
        "'",
        "\\",
        "\n",
        "#",
        "-1",
        "name",
        "op",
        "attr",
        "key",
        "value",
        "list",
        "shape",
        "tensor_shape",
        "dim",
        "size",
        "a",
        "unknown_rank",
        "true",
        "input",
        "\"a\"",
        "node { name: \"a\" op: \"b\" ",
        "é",
        "0x",
        "1e",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in [Format::GraphDefText, Format::GraphDef, Format::Onnx] {
            let _ = graph(bytes.clone(), format);
        }
    }

    #[test]
    fn arbitrary_texts_do_not_panic(soup in soup()) {
        let _ = text(&soup);
    }

    #[test]
    fn a_damaged_model_does_not_panic(at: prop::sample::Index, bytes: [u8; 3]) {
        let mut model = samples(Setup::V100, 1, 1).next().unwrap().onnx;
        let at = at.index(model.len() - 3);
        model[at..at + 3].copy_from_slice(&bytes);
        let _ = graph(model, Format::Onnx);
    }

    #[test]
    fn a_damaged_file_does_not_panic(at in 0..GRAPH.len(), byte: u8, cut: bool) {
        let mut bytes = GRAPH.as_bytes().to_vec();
        bytes[at] = byte;
        bytes.truncate(if cut { at } else { bytes.len() });
        let _ = graph(bytes, Format::GraphDefText);
    }
}
