//! The graph of values that a pickle describes.

/// A decoded pickle. The caller's list maps the names of classes and functions to values of type
/// `G`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pickle<'a, G> {
    /// All containers and calls, in the order in which the file creates them. The arguments of a
    /// call come before the call, and the members of a tuple come before the tuple. The members of a list or dict can
    /// come after the list or dict.
    pub nodes: Vec<Node<'a, G>>,
    /// The object that was pickled.
    pub root: Value<'a, G>,
    /// Length of the pickle in bytes.
    pub length: usize,
}

/// A value: plain data, or a reference to a [`Node`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a, G> {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer of more than 64 bits: little-endian bytes in two's complement.
    Long(&'a [u8]),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(&'a str),
    /// Bytes, a byte array, or a Python 2 string that is not UTF-8.
    Bytes(&'a [u8]),
    /// A class or function in the caller's list.
    Global(G),
    /// The number of a node, counted from 0.
    Node(u32),
}

/// A container or a recorded call.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a, G> {
    /// Offset, in bytes from the start of the input, of the instruction that created the node.
    pub at: usize,
    /// The content of the node.
    pub body: Body<'a, G>,
}

/// The contents of a [`Node`].
#[derive(Debug, Clone, PartialEq)]
pub enum Body<'a, G> {
    /// A tuple.
    Tuple(Vec<Value<'a, G>>),
    /// A list.
    List(Vec<Value<'a, G>>),
    /// A dict. It contains every entry that the file sets: if a key is set twice, both entries are
    /// listed.
    Dict(Vec<(Value<'a, G>, Value<'a, G>)>),
    /// An object that a call would return.
    Call(Box<Call<'a, G>>),
    /// An object outside the pickle, with this persistent id.
    Persistent(Value<'a, G>),
}

/// A call requested by the file. It is recorded, but never executed.
#[derive(Debug, Clone, PartialEq)]
pub struct Call<'a, G> {
    /// The value that would be called: a global, or the object returned by another call.
    pub callee: Value<'a, G>,
    /// The arguments, always a tuple.
    pub args: Value<'a, G>,
    /// The value that would be passed to `__setstate__` of the returned object, or whose entries
    /// would become its attributes.
    pub state: Option<Value<'a, G>>,
    /// The keys and values that would be set in the returned object, such as an `OrderedDict`.
    pub entries: Vec<(Value<'a, G>, Value<'a, G>)>,
}

impl<'a, G: Copy> Value<'a, G> {
    /// The string; `None` if the value is not a string.
    pub fn as_text(self) -> Option<&'a str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a size or position, if it is an integer of at least 0.
    pub fn as_usize(self) -> Option<usize> {
        match self {
            Value::Int(value) => usize::try_from(value).ok(),
            _ => None,
        }
    }
}

impl<'a, G: Copy> Pickle<'a, G> {
    /// The node of a value; `None` for a plain value.
    pub fn node(&self, value: Value<'a, G>) -> Option<&Node<'a, G>> {
        match value {
            Value::Node(id) => self.nodes.get(id as usize),
            _ => None,
        }
    }

    /// The contents of a value's node; `None` for a plain value.
    pub fn body(&self, value: Value<'a, G>) -> Option<&Body<'a, G>> {
        self.node(value).map(|node| &node.body)
    }

    /// The members of a tuple or list; `None` for any other value.
    pub fn items(&self, value: Value<'a, G>) -> Option<&[Value<'a, G>]> {
        match self.body(value)? {
            Body::Tuple(items) | Body::List(items) => Some(items),
            _ => None,
        }
    }

    /// A short description of a value, for messages.
    pub fn describe(&self, value: Value<'a, G>) -> String {
        match value {
            Value::None => "None".into(),
            Value::Bool(true) => "True".into(),
            Value::Bool(false) => "False".into(),
            Value::Int(value) => format!("the integer {value}"),
            Value::Long(_) => "an integer of more than 64 bits".into(),
            Value::Float(value) => format!("the number {value}"),
            Value::Text(text) => {
                let start: String = text.chars().take(40).collect();
                format!("the string {start:?}")
            }
            Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Value::Global(_) => "a class or function".into(),
            Value::Node(_) => match self.body(value) {
                Some(Body::Tuple(items)) => format!("a tuple of {}", items.len()),
                Some(Body::List(items)) => format!("a list of {}", items.len()),
                Some(Body::Dict(entries)) => format!("a dict of {}", entries.len()),
                Some(Body::Call(_)) => "an object".into(),
                Some(Body::Persistent(_)) => "an object outside the pickle".into(),
                None => "nothing".into(),
            },
        }
    }
}
