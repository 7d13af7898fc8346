//! Writes nodes as a GraphDef in text format, in the layout that TensorFlow uses.

use std::fmt::Write;

use super::nodes::{Holds, Kind, Nodes, Operation};

/// The version of the GraphDef format that is written.
const PRODUCER: u32 = 24;

/// The text of a GraphDef.
pub(super) fn write(nodes: &Nodes) -> String {
    let mut text = Text::default();
    for operation in &nodes.operations {
        node(operation, &mut text);
    }
    text.block("versions", |text| text.field("producer", PRODUCER));
    text.text
}

/// Lines of text. Nested messages are indented.
#[derive(Default)]
struct Text {
    text: String,
    depth: usize,
}

impl Text {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let indent = 2 * self.depth;
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn field(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(format_args!("{name}: {value}"));
    }

    /// Adds a string. The names written here contain no characters that need to be escaped.
    fn string(&mut self, name: &str, value: &str) {
        self.line(format_args!("{name}: \"{value}\""));
    }

    fn block(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.line(format_args!("{name} {{"));
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.line(format_args!("}}"));
    }

    fn attribute(&mut self, key: &str, value: impl FnOnce(&mut Self)) {
        self.block("attr", |text| {
            text.string("key", key);
            text.block("value", value);
        });
    }

    fn shape(&mut self, name: &str, shape: &[u64]) {
        self.block(name, |text| {
            for size in shape {
                text.block("dim", |text| text.field("size", size));
            }
        });
    }
}

/// Adds a node with its attributes.
fn node(operation: &Operation, text: &mut Text) {
    text.block("node", |text| {
        text.string("name", &operation.name);
        text.string("op", &operation.op);
        for input in &operation.inputs {
            text.string("input", input);
        }
        text.string("device", operation.device);
        kind(operation, text);
        text.attribute("_output_shapes", |text| {
            text.block("list", |text| {
                for shape in &operation.outputs {
                    text.shape("shape", shape);
                }
            });
        });
        held(operation, text);
    });
}

/// Adds the type of the elements of a node's outputs. The name of this attribute depends on the
/// operation.
fn kind(operation: &Operation, text: &mut Text) {
    let key = match operation.value {
        Holds::All(_) | Holds::Integers(_) | Holds::Variable => "dtype",
        Holds::Nothing | Holds::Window { .. } if !operation.outputs.is_empty() => "T",
        Holds::Nothing | Holds::Window { .. } => return,
    };
    text.attribute(key, |text| text.field("type", type_name(operation.kind)));
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Float => "DT_FLOAT",
        Kind::Integer => "DT_INT32",
    }
}

/// Adds the attributes for a node's contents.
fn held(operation: &Operation, text: &mut Text) {
    match &operation.value {
        Holds::Nothing => {}
        Holds::All(_) | Holds::Integers(_) => text.attribute("value", |text| {
            text.block("tensor", |text| tensor(operation, text));
        }),
        Holds::Variable => {
            text.attribute("shape", |text| text.shape("shape", &operation.outputs[0]))
        }
        Holds::Window { stride, size } => {
            if let Some(size) = size {
                text.attribute("ksize", |text| square(*size, text));
            }
            text.attribute("padding", |text| text.string("s", "SAME"));
            text.attribute("strides", |text| square(*stride, text));
        }
    }
}

/// Adds the values of a constant.
fn tensor(operation: &Operation, text: &mut Text) {
    text.field("dtype", type_name(operation.kind));
    text.shape("tensor_shape", &operation.outputs[0]);
    match &operation.value {
        Holds::All(value) => text.field("float_val", value),
        Holds::Integers(values) => values.iter().for_each(|value| text.field("int_val", value)),
        Holds::Nothing | Holds::Variable | Holds::Window { .. } => {}
    }
}

/// Adds a list of sizes for batch, height, width and channels: `size` for height and width, 1 for batch and channels.
fn square(size: u64, text: &mut Text) {
    text.block("list", |text| {
        for size in [1, size, size, 1] {
            text.field("i", size);
        }
    });
}
