//! Why a computational graph cannot be read.

use std::fmt;

use super::Format;

/// Why a computational graph cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The file is not in protobuf's text format.
    #[error("line {line}: {fault}")]
    Text {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        fault: TextFault,
    },
    /// The file is not in protobuf's binary format, or not of the messages expected.
    #[error(
        "this is not {}: {reason}; write the file anew, or name it by what it holds",
        expected(.format)
    )]
    Binary {
        /// The format expected.
        format: Format,
        /// What the decoder says.
        reason: String,
    },
    /// There is no node.
    #[error("there is no node: expected {} with at least one", expected(.0))]
    NoNodes(Format),
    /// A node that cannot be used.
    #[error("{place}: {fault}")]
    Node {
        /// Which.
        place: Place,
        /// What is wrong with it.
        fault: NodeFault,
    },
}

/// What a file of a format holds, in words.
fn expected(format: &Format) -> &'static str {
    match format {
        Format::GraphDefText => "a TensorFlow GraphDef in text form",
        Format::GraphDef => "a TensorFlow GraphDef in binary form",
        Format::Onnx => "an ONNX model",
    }
}

/// Where in a file a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name; empty where it has none.
    pub name: String,
    /// How many nodes of the file are before it.
    pub index: usize,
    /// The line on which it begins, from 1, of files of text.
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

/// What keeps a text from being read as protobuf's text format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextFault {
    /// A character where the name of a field should be.
    #[error("a field's name should be here, as `node`, instead of {0}")]
    Name(Found),
    /// A character where a value should be.
    #[error("a value should be here instead of {0}")]
    Value(Found),
    /// A node that is no message.
    #[error("what `node` has should be in brackets, as in `node {{ name: \"a\" op: \"Add\" }}`")]
    Node,
    /// No colon between a field and its value.
    #[error("`:` or `{{` should be here instead of {0}")]
    Colon(Found),
    /// A string without its end.
    #[error("this string does not end on its line: is the file cut short?")]
    String,
    /// A bracket without its counterpart.
    #[error("`{0}` has no counterpart: is the file cut short?")]
    Open(char),
    /// A bracket that closes another one, or none.
    #[error("`{found}` should be {expected}")]
    Close {
        /// What is there.
        found: char,
        /// What should be.
        expected: &'static str,
    },
    /// Too many brackets in one another.
    #[error(
        "more than {0} brackets are open here: no GraphDef has that many, and such are not read"
    )]
    Depth(usize),
}

/// A byte of a text, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found(pub Option<u8>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => write!(f, "the file's end"),
            Some(byte) if byte.is_ascii_graphic() => write!(f, "`{}`", char::from(byte)),
            Some(byte) => write!(f, "byte {byte:#04x}"),
        }
    }
}

/// What is wrong with a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeFault {
    /// A field has a value that is not of its type.
    #[error("{0}")]
    Fields(String),
    /// It has no name.
    #[error("it has no `name`: give it one that no other node has")]
    Unnamed,
    /// It has no type.
    #[error("it has no {0}, which says what it does")]
    NoOp(&'static str),
    /// Another node has its name.
    #[error("node {} has that name already: give each node a name of its own", first + 1)]
    Duplicate {
        /// How many nodes are before that other one.
        first: usize,
    },
    /// A dimension of a shape that is negative, and not the -1 of an unknown one.
    #[error("its shape has the dimension {0}; expected 0 or more, or -1 where it is not known")]
    Dimension(i64),
    /// An input that no node and no input of the model puts out.
    #[error("its input `{0}` is neither an input of the model nor an output of a node")]
    Input(String),
    /// An output that another node puts out too.
    #[error("its output `{0}` is one of another node or of the model's inputs as well")]
    Output(String),
}
