//! Errors that occur when computational graphs are read.

use std::fmt;

use super::Format;

/// The reason why a computational graph cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file is not in protobuf's text format.
    #[error("line {line}: {fault}")]
    Text {
        /// The line number, from 1.
        line: usize,
        /// The fault in this line.
        fault: TextFault,
    },
    /// The file is not in protobuf's binary format, or it does not hold the expected messages.
    #[error(
        "this is not {}: {reason}; write the file again, or change its extension to match its \
         format",
        expected(.format)
    )]
    Binary {
        /// The expected format.
        format: Format,
        /// The decoder's error message.
        reason: String,
    },
    /// The graph has no nodes.
    #[error("there are no nodes: expected {} with at least one node", expected(.0))]
    NoNodes(Format),
    /// A node cannot be used.
    #[error("{place}: {fault}")]
    Node {
        /// The position of the node.
        place: Place,
        /// The fault of the node.
        fault: NodeFault,
    },
}

/// The content that a file of this format must have.
fn expected(format: &Format) -> &'static str {
    match format {
        Format::GraphDefText => "a TensorFlow GraphDef in text format",
        Format::GraphDef => "a TensorFlow GraphDef in binary format",
        Format::Onnx => "an ONNX model",
    }
}

/// The position of a node in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the node; empty if it has none.
    pub name: String,
    /// The index of the node in the file, from 0.
    pub index: usize,
    /// The line on which the node begins, from 1; `None` in binary formats.
    pub line: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "node {}", self.index + 1)?;
        if !self.name.is_empty() {
            write!(f, " `{}`", self.name)?;
        }
        Ok(())
    }
}

/// The reason why a file is not in protobuf's text format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A field name was expected. Holds the byte that was found instead.
    #[error("expected the name of a field, such as `node`, found {0}")]
    Name(Found),
    /// A value was expected. Holds the byte that was found instead.
    #[error("expected a value, found {0}")]
    Value(Found),
    /// The value of a `node` field is not a message.
    #[error("the fields of `node` must be in brackets, as in `node {{ name: \"a\" op: \"Add\" }}`")]
    Node,
    /// A colon was expected between a field and its value. Holds the byte that was found instead.
    #[error("expected `:` or `{{`, found {0}")]
    Colon(Found),
    /// A string does not end on its line.
    #[error("this string does not end on its line: is the file truncated?")]
    String,
    /// An opening bracket has no matching closing bracket.
    #[error("`{0}` has no matching closing bracket: is the file truncated?")]
    Open(char),
    /// A closing bracket does not match the innermost open bracket, or no bracket is open.
    #[error("`{found}` should be {expected}")]
    Close {
        /// The closing bracket.
        found: char,
        /// The expected text.
        expected: &'static str,
    },
    /// Too many brackets are open at the same time. Holds the limit.
    #[error(
        "more than {0} brackets are open here: no GraphDef has that many, so the file is not read"
    )]
    Depth(usize),
}

/// The byte that was found; `None` at the end of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found(pub Option<u8>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => write!(f, "the end of the file"),
            Some(byte) if byte.is_ascii_graphic() => write!(f, "`{}`", char::from(byte)),
            Some(byte) => write!(f, "byte {byte:#04x}"),
        }
    }
}

/// A fault of a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeFault {
    /// The value of a field does not have the field's type.
    #[error("{0}")]
    Fields(String),
    /// The node has no name.
    #[error("it has no `name`: give it a name that no other node has")]
    Unnamed,
    /// The node has no operation type. Holds the name of the missing field.
    #[error("it has no {0}, the type of its operation")]
    NoOp(&'static str),
    /// Another node has the same name.
    #[error("node {} already has this name: give each node a unique name", first + 1)]
    Duplicate {
        /// The index of the other node in the file, from 0.
        first: usize,
    },
    /// A dimension of the shape is negative, but not -1, which marks an unknown dimension.
    #[error(
        "its shape has the dimension {0}; expected 0 or more, or -1 if the dimension is unknown"
    )]
    Dimension(i64),
    /// An input is neither the output of a node nor an input of the model.
    #[error("its input `{0}` is neither an input of the model nor an output of a node")]
    Input(String),
    /// An output is also the output of another node or an input of the model.
    #[error("its output `{0}` is also an output of another node or an input of the model")]
    Output(String),
}
