//! Instructions that make and fill tuples, lists and dictionaries.

use super::super::error::{PickleError, Problem};
use super::super::value::{Body, Value};
use super::{Machine, Step};

impl<'a> Machine<'a> {
    pub(super) fn tuple(&mut self, len: usize) -> Step {
        if self.stack.len() < self.floor() + len {
            return Err(self.malformed("a tuple lacks its members"));
        }
        let members = self.stack.drain(self.stack.len() - len..).collect();
        self.push_node(Body::Tuple(members))
    }

    pub(super) fn marked_tuple(&mut self) -> Step {
        let members = self.pop_marked()?;
        self.push_node(Body::Tuple(members))
    }

    pub(super) fn append(&mut self) -> Step {
        let member = self.pop()?;
        self.list()?.push(member);
        Ok(())
    }

    pub(super) fn appends(&mut self) -> Step {
        let members = self.pop_marked()?;
        self.list()?.extend(members);
        Ok(())
    }

    /// The list on top of the stack.
    fn list(&mut self) -> Result<&mut Vec<Value<'a>>, PickleError> {
        let at = self.at;
        match self.top_body()? {
            Some(Body::List(members)) => Ok(members),
            _ => Err(Problem::Malformed("members are added to what is not a list").at(at)),
        }
    }

    pub(super) fn set_item(&mut self) -> Step {
        let value = self.pop()?;
        let key = self.pop()?;
        self.dict()?.push((key, value));
        Ok(())
    }

    pub(super) fn set_items(&mut self) -> Step {
        let members = self.pop_marked()?;
        let (pairs, rest) = members.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(self.malformed("a dictionary has a key without a value"));
        }
        self.dict()?
            .extend(pairs.iter().map(|&[key, value]| (key, value)));
        Ok(())
    }

    /// The dictionary on top of the stack.
    fn dict(&mut self) -> Result<&mut Vec<(Value<'a>, Value<'a>)>, PickleError> {
        let at = self.at;
        match self.top_body()? {
            Some(Body::Dict(entries)) => Ok(entries),
            _ => Err(Problem::Malformed("entries are added to what is not a dictionary").at(at)),
        }
    }

    pub(super) fn top_body(&mut self) -> Result<Option<&mut Body<'a>>, PickleError> {
        Ok(match self.top()? {
            Value::Node(id) => self.nodes.get_mut(id as usize).map(|node| &mut node.body),
            _ => None,
        })
    }
}
