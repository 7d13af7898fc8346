//! The pickle stack machine, which records calls instead of making them.

mod calls;
mod containers;
mod values;

use super::cursor::Cursor;
use super::error::{PickleError, Problem};
use super::graph::Graph;
use super::opcode as op;
use super::value::{Body, Node, Value};

/// Values that a file may push. A table of 8 million separate objects belongs in
/// numeric columns, which are one value each.
const MAX_VALUES: usize = 1 << 23;
/// Containers and calls that a file may make.
const MAX_NODES: usize = 1 << 21;

/// Carries out the whole pickle in `bytes`.
///
/// # Errors
/// Where it is damaged, names anything outside the closed list of classes, or
/// is larger than a table can be.
pub(super) fn run(bytes: &[u8]) -> Result<Graph<'_>, PickleError> {
    let mut machine = Machine {
        input: Cursor::new(bytes),
        at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        nodes: Vec::new(),
        pushed: 0,
    };
    machine.header(bytes)?;
    let root = machine.instructions()?;
    match machine.input.left() {
        0 => Ok(Graph::new(machine.nodes, root, bytes.len())),
        more => Err(Problem::TrailingBytes(more).at(machine.input.position())),
    }
}

struct Machine<'a> {
    input: Cursor<'a>,
    /// Offset of the instruction under way.
    at: usize,
    stack: Vec<Value<'a>>,
    /// Stack heights at the open marks.
    marks: Vec<usize>,
    memo: Vec<Option<Value<'a>>>,
    nodes: Vec<Node<'a>>,
    /// Values pushed so far.
    pushed: usize,
}

type Step = Result<(), PickleError>;

impl<'a> Machine<'a> {
    fn header(&mut self, bytes: &[u8]) -> Step {
        match bytes.first() {
            Some(&op::PROTO) => Ok(()),
            Some(_) => {
                let start = &bytes[..bytes.len().min(4)];
                let found = format!("bytes {start:02x?}");
                Err(Problem::NotAPickle { found }.at(0))
            }
            None => {
                let found = "nothing: it is empty".into();
                Err(Problem::NotAPickle { found }.at(0))
            }
        }
    }

    /// Runs until the end instruction and returns what it leaves behind.
    fn instructions(&mut self) -> Result<Value<'a>, PickleError> {
        loop {
            self.at = self.input.position();
            match self.input.byte("the next instruction")? {
                op::STOP => break,
                code => self.step(code)?,
            }
        }
        let root = self.pop()?;
        if self.stack.is_empty() && self.marks.is_empty() {
            Ok(root)
        } else {
            Err(self.malformed("the pickle ends with values left over"))
        }
    }

    fn step(&mut self, code: u8) -> Step {
        match code {
            op::PROTO => self.protocol(),
            op::FRAME => self.frame(),
            op::NONE => self.push(Value::None),
            op::NEWTRUE => self.push(Value::Bool(true)),
            op::NEWFALSE => self.push(Value::Bool(false)),
            op::BININT | op::BININT1 | op::BININT2 | op::LONG1 => self.integer(code),
            op::BINFLOAT => self.float(),
            op::SHORT_BINUNICODE => self.text::<1>(),
            op::BINUNICODE => self.text::<4>(),
            op::BINUNICODE8 => self.text::<8>(),
            op::SHORT_BINSTRING => self.string::<1>(),
            op::BINSTRING => self.string::<4>(),
            op::SHORT_BINBYTES => self.bytes::<1>(),
            op::BINBYTES => self.bytes::<4>(),
            op::BINBYTES8 | op::BYTEARRAY8 => self.bytes::<8>(),
            op::MARK => self.mark(),
            op::EMPTY_TUPLE => self.push_node(Body::Tuple(Vec::new())),
            op::TUPLE1 => self.tuple(1),
            op::TUPLE2 => self.tuple(2),
            op::TUPLE3 => self.tuple(3),
            op::TUPLE => self.marked_tuple(),
            op::EMPTY_LIST => self.push_node(Body::List(Vec::new())),
            op::APPEND => self.append(),
            op::APPENDS => self.appends(),
            op::EMPTY_DICT => self.push_node(Body::Dict(Vec::new())),
            op::SETITEM => self.set_item(),
            op::SETITEMS => self.set_items(),
            op::BINGET | op::LONG_BINGET => self.get(code),
            op::BINPUT | op::LONG_BINPUT => self.put(code),
            op::MEMOIZE => self.memoize(self.memo.len()),
            op::GLOBAL => self.global_lines(),
            op::STACK_GLOBAL => self.global_from_stack(),
            op::REDUCE | op::NEWOBJ => self.call(code),
            op::BUILD => self.build(),
            _ => Err(refused(code).at(self.at)),
        }
    }

    fn malformed(&self, what: &'static str) -> PickleError {
        Problem::Malformed(what).at(self.at)
    }

    /// Fails where `count` has reached `limit`.
    fn limit(&self, count: usize, limit: usize, what: &'static str) -> Step {
        if count < limit {
            return Ok(());
        }
        Err(Problem::Limit { what, limit }.at(self.at))
    }

    // The stack.

    fn push(&mut self, value: Value<'a>) -> Step {
        self.limit(self.pushed, MAX_VALUES, "separate values")?;
        self.pushed += 1;
        self.stack.push(value);
        Ok(())
    }

    fn push_node(&mut self, body: Body<'a>) -> Step {
        self.limit(self.nodes.len(), MAX_NODES, "lists and objects")?;
        // MAX_NODES fits 32 bits.
        let id = self.nodes.len() as u32;
        self.nodes.push(Node { at: self.at, body });
        self.push(Value::Node(id))
    }

    /// Stack height that the open mark, if any, protects.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Value<'a>, PickleError> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    fn top(&self) -> Result<Value<'a>, PickleError> {
        match self.stack.last() {
            Some(&value) if self.stack.len() > self.floor() => Ok(value),
            _ => Err(self.malformed("an instruction lacks its operand")),
        }
    }

    fn mark(&mut self) -> Step {
        self.limit(self.marks.len(), MAX_NODES, "nested parts")?;
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Removes the open mark and the values above it.
    fn pop_marked(&mut self) -> Result<Vec<Value<'a>>, PickleError> {
        match self.marks.pop() {
            Some(start) => Ok(self.stack.drain(start..).collect()),
            None => Err(self.malformed("the end of a part lacks its start")),
        }
    }

    // The memo.

    fn get(&mut self, code: u8) -> Step {
        let index = self.memo_index(code == op::BINGET)?;
        match self.memo.get(index) {
            Some(&Some(value)) => self.push(value),
            _ => Err(self.malformed("a reference leads nowhere")),
        }
    }

    fn put(&mut self, code: u8) -> Step {
        let index = self.memo_index(code == op::BINPUT)?;
        self.memoize(index)
    }

    fn memo_index(&mut self, short: bool) -> Result<usize, PickleError> {
        let what = "the number of a shared value";
        if short {
            return Ok(self.input.byte(what)?.into());
        }
        Ok(u32::from_le_bytes(self.input.array(what)?) as usize)
    }

    /// Python numbers shared values in sequence, some versions from 1.
    fn memoize(&mut self, index: usize) -> Step {
        let value = self.top()?;
        self.limit(self.memo.len(), MAX_VALUES, "shared values")?;
        if index > self.memo.len() + 1 {
            return Err(self.malformed("shared values are not numbered in sequence"));
        }
        if index >= self.memo.len() {
            self.memo.resize(index + 1, None);
        }
        self.memo[index] = Some(value);
        Ok(())
    }
}

/// The error for an instruction that is not carried out.
fn refused(code: u8) -> Problem {
    match code {
        op::PERSID | op::BINPERSID => Problem::Outside("an object (persistent id)"),
        op::EXT1 | op::EXT2 | op::EXT4 => Problem::Outside("a class (extension registry)"),
        op::NEXT_BUFFER | op::READONLY_BUFFER => Problem::Outside("a buffer (out-of-band)"),
        _ => Problem::Opcode {
            code,
            name: op::name(code),
        },
    }
}
