//! The values that the stack machine records.

use super::globals::Global;

/// A value on the machine's stack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits.
    Huge,
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Global(Global),
    Node(u32),
}

/// A container, or the record of a call.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Byte offset of the instruction that made it.
    pub at: usize,
    pub body: Body<'a>,
}

/// The contents of a [`Node`].
#[derive(Debug)]
pub(super) enum Body<'a> {
    Tuple(Vec<Value<'a>>),
    List(Vec<Value<'a>>),
    Dict(Vec<(Value<'a>, Value<'a>)>),
    Call(Call<'a>),
}

/// A call that the pickle asks for. It is recorded, never made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// What would be called.
    pub class: Global,
    /// The tuple of arguments.
    pub args: Value<'a>,
    /// What the resulting object would be filled with.
    pub state: Option<Value<'a>>,
}

/// A value and the byte offset to name if it is not what it should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub value: Value<'a>,
    pub at: usize,
}

/// A text.
pub(super) fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A size or position.
pub(super) fn size(value: Value<'_>) -> Option<usize> {
    match value {
        Value::Int(value) => usize::try_from(value).ok(),
        _ => None,
    }
}
