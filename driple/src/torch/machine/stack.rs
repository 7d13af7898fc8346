//! The stack of the machine, the objects on it, and its memo.

use super::{LACKING, MOST_NODES, MOST_VALUES, Machine, Step};
use crate::torch::Problem;
use crate::torch::opcode as op;
use crate::torch::value::{Node, Value};

impl<'a> Machine<'a> {
    pub(super) fn push(&mut self, value: Value<'a>) -> Step {
        if self.pushed == MOST_VALUES {
            return Err(Problem::Objects(MOST_VALUES));
        }
        self.pushed += 1;
        self.stack.push(value);
        Ok(())
    }

    pub(super) fn push_node(&mut self, node: Node<'a>) -> Step {
        if self.nodes.len() == MOST_NODES {
            return Err(Problem::Objects(MOST_NODES));
        }
        // MOST_NODES fits 32 bits.
        let id = self.nodes.len() as u32;
        self.nodes.push(node);
        self.push(Value::Node(id))
    }

    /// The height of the stack that the last open mark protects.
    pub(super) fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    pub(super) fn top(&self) -> Result<Value<'a>, Problem> {
        let above = self.stack.get(self.floor()..).and_then(<[_]>::last);
        above.copied().ok_or(LACKING)
    }

    pub(super) fn pop(&mut self) -> Result<Value<'a>, Problem> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    pub(super) fn top_node(&mut self) -> Result<&mut Node<'a>, Problem> {
        match self.top()? {
            Value::Node(id) => self.nodes.get_mut(id as usize).ok_or(LACKING),
            _ => Err(Problem::Malformed("a container is none")),
        }
    }

    pub(super) fn mark(&mut self) -> Step {
        if self.marks.len() == MOST_NODES {
            return Err(Problem::Objects(MOST_NODES));
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Removes the last open mark and the values above it.
    pub(super) fn pop_marked(&mut self) -> Result<Vec<Value<'a>>, Problem> {
        let start = self.marks.pop();
        let start = start.ok_or(Problem::Malformed("the end of a container lacks its start"))?;
        Ok(self.stack.split_off(start))
    }

    // The memo.

    pub(super) fn get(&mut self, code: u8) -> Step {
        let index = self.memo_index(code == op::BINGET)?;
        let value = self.memo.get(&index).copied();
        self.push(value.ok_or(Problem::Malformed("a reference leads nowhere"))?)
    }

    pub(super) fn put(&mut self, code: u8) -> Step {
        let index = self.memo_index(code == op::BINPUT)?;
        self.memoize(index)
    }

    fn memo_index(&mut self, short: bool) -> Result<u32, Problem> {
        match short {
            true => Ok(self.input.byte()?.into()),
            false => Ok(u32::from_le_bytes(self.input.array()?)),
        }
    }

    pub(super) fn memoize(&mut self, index: u32) -> Step {
        if self.memo.len() == MOST_VALUES {
            return Err(Problem::Objects(MOST_VALUES));
        }
        self.memo.insert(index, self.top()?);
        Ok(())
    }
}
