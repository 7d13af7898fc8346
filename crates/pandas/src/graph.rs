//! Access to the values of a decoded pickle.
//!
//! Many values can contain the same value, and a value can even contain itself.
//! Readers therefore follow a fixed path (a frame, its manager, its blocks,
//! their arrays) and never recurse. Before they expand a value, they charge its
//! size to a budget with [`Graph::spend`]. For example, 2,000 columns in a file of 150 KB can share
//! 20,000 cells. They would expand to 40 million cells, but the budget runs out first.

use gleaner_pickle::{Body, Budget, decode, opcode};

use super::calls;
use super::error::{PickleError, Problem};
use super::globals::{self, Global};

pub(super) type Pickle<'a> = gleaner_pickle::Pickle<'a, Global>;
pub(super) type Value<'a> = gleaner_pickle::Value<'a, Global>;
pub(super) type Recorded<'a> = gleaner_pickle::Call<'a, Global>;

/// Dictionaries that describe objects must have fewer entries than this limit. The limit bounds the
/// time of look-ups, because very many objects can share one dictionary.
const MAX_STATE_ENTRIES: usize = 64;

/// Maximum number of bytes to which each byte of input is allowed to expand. A value takes at least one byte in the
/// file and 32 bytes as a cell. A column takes 80 bytes in addition to its values.
const EXPANSION: usize = 128;
/// Number of bytes to which any file is allowed to expand, however short it is.
const EXPANSION_FLOOR: usize = 1 << 16;
/// Maximum number of bytes to which a file is allowed to expand, in addition to copies of its own bytes. Such copies
/// are needed because protocol 2 writes bytes as text, which must be decoded.
const EXPANSION_CEILING: usize = 1 << 28;

/// Number of bytes that can be scanned in the time it takes to store one byte.
const SCAN: usize = 16;

/// A value, and the byte offset to report in messages about it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub value: Value<'a>,
    pub at: usize,
}

/// A recorded call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The class or function that would be called.
    pub class: Global,
    /// The tuple of arguments.
    pub args: Value<'a>,
    /// The state that would be set on the resulting object.
    pub state: Option<Value<'a>>,
}

/// The values of a pickle, and the budget for expanding them.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pickle: Pickle<'a>,
    budget: Budget,
}

impl<'a> Graph<'a> {
    /// Decodes the pickle in `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, PickleError> {
        // Objects outside the pickle are not supported, because no table needs
        // them.
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

    /// Charges the budget for `count` values of `size` bytes before they are
    /// allocated.
    pub(super) fn spend(&self, count: usize, size: usize, at: usize) -> Result<(), PickleError> {
        let spent = self.budget.spend(count, size);
        spent.ok_or_else(|| {
            let what = "bytes of values, counting every use of a shared value,";
            let limit = self.budget.limit();
            Problem::Limit { what, limit }.at(at)
        })
    }

    /// Charges the budget for scanning `len` bytes. This is needed because shared bytes can be scanned many times.
    pub(super) fn scan(&self, len: usize, at: usize) -> Result<(), PickleError> {
        self.spend(len / SCAN + 1, 1, at)
    }

    /// The item for a value inside `parent`. If the value has no offset of its own, the item gets
    /// the offset of `parent`.
    pub(super) fn child(&self, parent: Item<'a>, value: Value<'a>) -> Item<'a> {
        let at = self.pickle.node(value).map_or(parent.at, |node| node.at);
        Item { value, at }
    }

    /// The members of a tuple or list.
    pub(super) fn sequence(&self, item: Item<'a>) -> Option<&[Value<'a>]> {
        self.pickle.items(item.value)
    }

    /// The members of a tuple or list, which must have exactly `N` members.
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

    /// The recorded call that would create a value.
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

    /// The state of a call, or the call's arguments if it has no state.
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

    /// Like [`Graph::entry`], but fails if the entry is missing.
    pub(super) fn required(
        &self,
        item: Item<'a>,
        key: &str,
        expected: &'static str,
    ) -> Result<Item<'a>, PickleError> {
        self.entry(item, key, expected)?
            .ok_or_else(|| self.unexpected(item, expected))
    }

    /// The error for an unexpected value.
    pub(super) fn unexpected(&self, item: Item<'a>, expected: &'static str) -> PickleError {
        let found = self.describe(item);
        Problem::Unexpected { expected, found }.at(item.at)
    }

    /// A description of a value, for messages.
    fn describe(&self, item: Item<'a>) -> String {
        match (item.value, self.call(item)) {
            (Value::Global(class), _) => format!("the class {}", class.name()),
            (_, Some(call)) => format!("an object ({})", call.class.name()),
            _ => self.pickle.describe(item.value),
        }
    }
}

/// Number of bytes to which a pickle of this length is allowed to expand.
fn expansion(input_len: usize) -> usize {
    input_len
        .saturating_mul(EXPANSION)
        .saturating_add(EXPANSION_FLOOR)
        .min(EXPANSION_CEILING)
        .saturating_add(input_len.saturating_mul(2))
}
