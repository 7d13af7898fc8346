//! What the machine makes of a pickle.

use super::globals::{Global, Kind};

/// A value on the machine's stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Global(Global),
    /// The number of an object in [`Pickle::nodes`].
    Node(u32),
}

/// An object.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Tuple(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    /// Where values are kept.
    Storage(Storage<'a>),
    Tensor(View),
}

/// Values that tensors look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Storage<'a> {
    pub kind: Kind,
    /// Its name in the file.
    pub key: &'a str,
    /// The number of its values.
    pub len: usize,
}

/// A tensor: how it looks at a storage. Counts are of values.
#[derive(Debug)]
pub(super) struct View {
    /// The number of the storage in [`Pickle::nodes`].
    pub storage: u32,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
}

/// The objects of a pickle.
pub(super) struct Pickle<'a> {
    pub nodes: Vec<Node<'a>>,
    /// The object that was saved.
    pub root: Value<'a>,
    /// The bytes that it takes.
    pub length: usize,
}

impl<'a> Pickle<'a> {
    /// The object of a value, if it is one.
    pub fn node(&self, value: Value) -> Option<&Node<'a>> {
        match value {
            Value::Node(id) => self.nodes.get(id as usize),
            _ => None,
        }
    }

    /// What a value is, for errors.
    pub fn describe(&self, value: Value) -> &'static str {
        match value {
            Value::None => "None",
            Value::Bool(_) => "a bool",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a text",
            Value::Global(_) => "a class or function",
            Value::Node(_) => match self.node(value) {
                Some(Node::Tuple(_)) => "a tuple",
                Some(Node::List(_)) => "a list",
                Some(Node::Dict(_)) => "a dict",
                Some(Node::Storage(_)) => "a storage",
                Some(Node::Tensor(_)) => "a tensor",
                None => "nothing",
            },
        }
    }
}
