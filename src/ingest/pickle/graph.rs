//! What the stack machine recorded: plain values, and nodes that hold them.
//!
//! Nodes refer to each other by number, so a value may be shared by many and
//! may even contain itself. Readers therefore follow a fixed path (a frame, its
//! manager, its blocks, their arrays) and never recurse, and whatever they
//! expand they pay for with [`Graph::spend`].

use std::cell::Cell;

use super::error::{PickleError, Problem};
use super::value::{Body, Call, Item, Node, Value, text};

/// A dictionary that describes an object has fewer entries than this. It keeps
/// look-ups constant when one dictionary is shared by very many objects.
const MAX_STATE_ENTRIES: usize = 64;

/// Bytes of tables per byte of input. A value takes at least one byte in the
/// file and 32 as a cell; a column takes 80 beside its values.
const EXPANSION: usize = 128;
/// What even the shortest file may expand to, in bytes.
const EXPANSION_FLOOR: usize = 1 << 16;
/// What no file may expand to, in bytes, beside the bytes that it holds itself
/// (protocol 2 has them as text).
const EXPANSION_CEILING: usize = 1 << 28;

/// Bytes that are looked through in the time that one takes to store.
const SCAN: usize = 16;

/// The recorded graph.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    root: Value<'a>,
    input_len: usize,
    budget: Cell<usize>,
}

impl<'a> Graph<'a> {
    /// A graph of `nodes` with the outermost value `root`, recorded from
    /// `input_len` bytes.
    pub(super) fn new(nodes: Vec<Node<'a>>, root: Value<'a>, input_len: usize) -> Self {
        Self {
            nodes,
            root,
            input_len,
            budget: Cell::new(expansion(input_len)),
        }
    }

    /// The outermost value.
    pub(super) fn root(&self) -> Item<'a> {
        let outside = Item {
            value: Value::None,
            at: 0,
        };
        self.child(outside, self.root)
    }

    /// Length of the pickle in bytes.
    pub(super) fn input_len(&self) -> usize {
        self.input_len
    }

    /// Pays for `count` things of `size` bytes that are about to be allocated.
    pub(super) fn spend(&self, count: usize, size: usize, at: usize) -> Result<(), PickleError> {
        let left = count
            .checked_mul(size)
            .and_then(|cost| self.budget.get().checked_sub(cost));
        match left {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(Problem::Limit {
                what: "bytes of values, counting shared ones every time,",
                limit: expansion(self.input_len),
            }
            .at(at)),
        }
    }

    /// Pays for looking through `len` bytes that may be shared, and so be
    /// looked through again and again.
    pub(super) fn scan(&self, len: usize, at: usize) -> Result<(), PickleError> {
        self.spend(len / SCAN + 1, 1, at)
    }

    /// `value` as found inside `parent`.
    pub(super) fn child(&self, parent: Item<'a>, value: Value<'a>) -> Item<'a> {
        let at = self.node(value).map_or(parent.at, |node| node.at);
        Item { value, at }
    }

    fn node(&self, value: Value<'a>) -> Option<&Node<'a>> {
        match value {
            Value::Node(id) => self.nodes.get(id as usize),
            _ => None,
        }
    }

    /// The members of a tuple or list.
    pub(super) fn sequence(&self, item: Item<'a>) -> Option<&[Value<'a>]> {
        match &self.node(item.value)?.body {
            Body::Tuple(items) | Body::List(items) => Some(items),
            _ => None,
        }
    }

    /// The members of a tuple or list of exactly `N`.
    pub(super) fn fields<const N: usize>(
        &self,
        item: Item<'a>,
        expected: &'static str,
    ) -> Result<[Item<'a>; N], PickleError> {
        let values: [Value<'a>; N] = self
            .sequence(item)
            .and_then(|values| values.try_into().ok())
            .ok_or_else(|| self.unexpected(item, expected))?;
        Ok(values.map(|value| self.child(item, value)))
    }

    /// The recorded call behind a value.
    pub(super) fn call(&self, item: Item<'a>) -> Option<Call<'a>> {
        match &self.node(item.value)?.body {
            Body::Call(call) => Some(*call),
            _ => None,
        }
    }

    /// The state of a call, or its arguments where it was not given one.
    pub(super) fn state(&self, item: Item<'a>, call: Call<'a>) -> Item<'a> {
        self.child(item, call.state.unwrap_or(call.args))
    }

    /// The entry `key` of a dictionary that describes an object.
    pub(super) fn entry(
        &self,
        item: Item<'a>,
        key: &str,
        expected: &'static str,
    ) -> Result<Option<Item<'a>>, PickleError> {
        match self.node(item.value).map(|node| &node.body) {
            Some(Body::Dict(entries)) if entries.len() < MAX_STATE_ENTRIES => Ok(entries
                .iter()
                .rev()
                .find(|(name, _)| text(*name) == Some(key))
                .map(|(_, value)| self.child(item, *value))),
            _ => Err(self.unexpected(item, expected)),
        }
    }

    /// Like [`Graph::entry`], where the entry must be there.
    pub(super) fn required(
        &self,
        item: Item<'a>,
        key: &str,
        expected: &'static str,
    ) -> Result<Item<'a>, PickleError> {
        self.entry(item, key, expected)?
            .ok_or_else(|| self.unexpected(item, expected))
    }

    /// The error for a value that is something else than `expected`.
    pub(super) fn unexpected(&self, item: Item<'a>, expected: &'static str) -> PickleError {
        let found = self.describe(item);
        Problem::Unexpected { expected, found }.at(item.at)
    }

    /// A value in words.
    pub(super) fn describe(&self, item: Item<'a>) -> String {
        match item.value {
            Value::None => "None".into(),
            Value::Bool(value) => if value { "True" } else { "False" }.into(),
            Value::Int(value) => format!("the integer {value}"),
            Value::Huge => "an integer beyond 64 bits".into(),
            Value::Float(value) => format!("the number {value}"),
            Value::Text(text) => {
                let start: String = text.chars().take(40).collect();
                format!("the text {start:?}")
            }
            Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
            Value::Global(global) => format!("the class {}", global.name()),
            Value::Node(_) => match self.node(item.value).map(|node| &node.body) {
                Some(Body::Tuple(items)) => format!("a tuple of {}", items.len()),
                Some(Body::List(items)) => format!("a list of {}", items.len()),
                Some(Body::Dict(entries)) => format!("a dictionary of {}", entries.len()),
                Some(Body::Call(call)) => format!("an object ({})", call.class.name()),
                None => "nothing".into(),
            },
        }
    }
}

/// Bytes that a pickle of `input_len` may expand to.
fn expansion(input_len: usize) -> usize {
    input_len
        .saturating_mul(EXPANSION)
        .saturating_add(EXPANSION_FLOOR)
        .min(EXPANSION_CEILING)
        .saturating_add(input_len.saturating_mul(2))
}
