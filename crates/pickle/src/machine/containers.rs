//! Instructions that create and fill tuples, lists and dicts.

use super::{Machine, Step};
use crate::value::{Body, Value};

impl<'a, G: Copy> Machine<'a, '_, G> {
    pub(super) fn tuple(&mut self, len: usize) -> Step {
        let above = self.stack.len() - self.floor();
        if above < len {
            return Err(self.needs("more operands", format!("{above} on the stack")));
        }
        let items = self.stack.drain(self.stack.len() - len..).collect();
        self.push_node(Body::Tuple(items))
    }

    pub(super) fn marked_tuple(&mut self) -> Step {
        let items = self.pop_marked()?;
        self.push_node(Body::Tuple(items))
    }

    pub(super) fn append(&mut self) -> Step {
        let item = self.pop()?;
        self.extend([item])
    }

    pub(super) fn appends(&mut self) -> Step {
        let items = self.pop_marked()?;
        self.extend(items)
    }

    fn extend(&mut self, items: impl IntoIterator<Item = Value<'a, G>>) -> Step {
        let top = self.top()?;
        match self.body_mut(top) {
            Some(Body::List(list)) => list.extend(items),
            _ => return Err(self.mismatch("a list", top)),
        }
        Ok(())
    }

    pub(super) fn set_item(&mut self) -> Step {
        let value = self.pop()?;
        let key = self.pop()?;
        self.insert(&[[key, value]])
    }

    pub(super) fn set_items(&mut self) -> Step {
        let items = self.pop_marked()?;
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.needs("a value for each key", format!("{} operands", items.len())));
        }
        self.insert(pairs)
    }

    /// Sets entries of a dict, or of an object that a call would return.
    fn insert(&mut self, pairs: &[[Value<'a, G>; 2]]) -> Step {
        let top = self.top()?;
        let entries = match self.body_mut(top) {
            Some(Body::Dict(entries)) => entries,
            Some(Body::Call(call)) => &mut call.entries,
            _ => return Err(self.mismatch("a dict or object", top)),
        };
        entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
        Ok(())
    }

    pub(super) fn body_mut(&mut self, value: Value<'a, G>) -> Option<&mut Body<'a, G>> {
        match value {
            Value::Node(id) => self.pickle.nodes.get_mut(id as usize),
            _ => None,
        }
        .map(|node| &mut node.body)
    }
}
