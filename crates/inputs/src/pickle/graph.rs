//! Access to the values of a decoded pickle.
//!
//! A value may be shared by many and may even contain itself. Readers therefore
//! follow a fixed path (a frame, its manager, its blocks, their arrays), never
//! recurse, and pay for what they expand with [`Graph::spend`].

use gleaner_pickle::{Body, Budget, decode, opcode};

use super::calls;
use super::error::{PickleError, Problem};
use super::globals::{self, Global};

pub(super) type Pickle<'a> = gleaner_pickle::Pickle<'a, Global>;
pub(super) type Value<'a> = gleaner_pickle::Value<'a, Global>;
pub(super) type Recorded<'a> = gleaner_pickle::Call<'a, Global>;

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

/// A value and the byte offset to name if it is not what it should be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub value: Value<'a>,
    pub at: usize,
}

/// A recorded call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// What would be called.
    pub class: Global,
    /// The tuple of arguments.
    pub args: Value<'a>,
    /// What the resulting object would be filled with.
    pub state: Option<Value<'a>>,
}

/// The values of a pickle, and what may be made of them.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pickle: Pickle<'a>,
    budget: Budget,
}

impl<'a> Graph<'a> {
    /// Decodes the pickle that `bytes` are.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, PickleError> {
        // A table has no objects outside the pickle.
        let pickle = decode(bytes, &[opcode::BINPERSID], globals::find)?;
        match bytes.len() - pickle.length {
            0 => calls::check(&pickle)?,
            more => return Err(Problem::TrailingBytes(more).at(pickle.length)),
        }
        let budget = Budget::new(expansion(bytes.len()));
        Ok(Self { pickle, budget })
    }

    /// The outermost value.
    pub(super) fn root(&self) -> Item<'a> {
        let outside = Item {
            value: Value::None,
            at: 0,
        };
        self.child(outside, self.pickle.root)
    }

    /// Length of the pickle in bytes.
    pub(super) fn input_len(&self) -> usize {
        self.pickle.length
    }

    /// Pays for `count` things of `size` bytes that are about to be allocated.
    pub(super) fn spend(&self, count: usize, size: usize, at: usize) -> Result<(), PickleError> {
        let spent = self.budget.spend(count, size);
        spent.ok_or_else(|| {
            let what = "bytes of values, counting shared ones every time,";
            let limit = self.budget.limit();
            Problem::Limit { what, limit }.at(at)
        })
    }

    /// Pays for looking through `len` bytes that may be shared, and so be
    /// looked through again and again.
    pub(super) fn scan(&self, len: usize, at: usize) -> Result<(), PickleError> {
        self.spend(len / SCAN + 1, 1, at)
    }

    /// `value` as found inside `parent`.
    pub(super) fn child(&self, parent: Item<'a>, value: Value<'a>) -> Item<'a> {
        let at = self.pickle.node(value).map_or(parent.at, |node| node.at);
        Item { value, at }
    }

    /// The members of a tuple or list.
    pub(super) fn sequence(&self, item: Item<'a>) -> Option<&[Value<'a>]> {
        self.pickle.items(item.value)
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
        match self.pickle.body(item.value)? {
            Body::Call(call) => Some(Call {
                class: calls::class(&self.pickle, call)?,
                args: call.args,
                state: call.state,
            }),
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
        match self.pickle.body(item.value) {
            Some(Body::Dict(entries)) if entries.len() < MAX_STATE_ENTRIES => Ok(entries
                .iter()
                .rev()
                .find(|(name, _)| name.as_text() == Some(key))
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
    fn describe(&self, item: Item<'a>) -> String {
        match (item.value, self.call(item)) {
            (Value::Global(class), _) => format!("the class {}", class.name()),
            (_, Some(call)) => format!("an object ({})", call.class.name()),
            _ => self.pickle.describe(item.value),
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
