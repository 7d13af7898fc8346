//! The stack machine of pickles.

mod calls;
mod stack;

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::opcode as op;
use super::value::{Node, Pickle, Value};
use super::{Problem, TorchError, globals};

/// Objects that a pickle may make, about 300,000 tensors.
const MOST_NODES: usize = 1 << 21;
/// Values that a pickle may push.
const MOST_VALUES: usize = 1 << 23;

/// Carries out the pickle that `bytes` begin with; `name` is what errors call it.
pub(super) fn run<'a>(bytes: &'a [u8], name: &'static str) -> Result<Pickle<'a>, TorchError> {
    let mut machine = Machine {
        input: Cursor::new(bytes),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: BTreeMap::new(),
        nodes: Vec::new(),
        pushed: 0,
    };
    let mut at = 0;
    let root = machine.instructions(&mut at);
    let root = root.map_err(|problem| TorchError::Pickle {
        pickle: name,
        offset: at,
        problem,
    })?;
    Ok(Pickle {
        nodes: machine.nodes,
        root,
        length: machine.input.position(),
    })
}

struct Machine<'a> {
    input: Cursor<'a>,
    stack: Vec<Value<'a>>,
    /// Heights of the stack at the open marks.
    marks: Vec<usize>,
    memo: BTreeMap<u32, Value<'a>>,
    nodes: Vec<Node<'a>>,
    /// Values pushed so far.
    pushed: usize,
}

type Step = Result<(), Problem>;

impl<'a> Machine<'a> {
    /// Runs until the end instruction and returns what it leaves. `at` is where the instruction
    /// under way begins.
    fn instructions(&mut self, at: &mut usize) -> Result<Value<'a>, Problem> {
        loop {
            *at = self.input.position();
            match self.input.byte()? {
                op::STOP => return self.root(),
                code => self.step(code)?,
            }
        }
    }

    fn root(&mut self) -> Result<Value<'a>, Problem> {
        let root = self.pop()?;
        match self.stack.is_empty() && self.marks.is_empty() {
            true => Ok(root),
            false => Err(Problem::Malformed("the pickle ends with values left over")),
        }
    }

    fn step(&mut self, code: u8) -> Step {
        match code {
            op::PROTO => self.protocol(),
            op::FRAME => self.input.array::<8>().map(drop),
            op::NONE => self.push(Value::None),
            op::NEWTRUE => self.push(Value::Bool(true)),
            op::NEWFALSE => self.push(Value::Bool(false)),
            op::BININT | op::BININT1 | op::BININT2 | op::LONG1 => self.integer(code),
            op::BINFLOAT => self.float(),
            op::SHORT_BINUNICODE | op::SHORT_BINSTRING => self.text::<1>(),
            op::BINUNICODE | op::BINSTRING => self.text::<4>(),
            op::BINUNICODE8 => self.text::<8>(),
            op::MARK => self.mark(),
            op::EMPTY_TUPLE => self.tuple(0),
            op::TUPLE1 => self.tuple(1),
            op::TUPLE2 => self.tuple(2),
            op::TUPLE3 => self.tuple(3),
            op::TUPLE => self.marked_tuple(),
            op::EMPTY_LIST => self.push_node(Node::List(Vec::new())),
            op::APPEND => self.append(),
            op::APPENDS => self.appends(),
            op::EMPTY_DICT => self.push_node(Node::Dict(Vec::new())),
            op::SETITEM => self.set_item(),
            op::SETITEMS => self.set_items(),
            op::BINGET | op::LONG_BINGET => self.get(code),
            op::BINPUT | op::LONG_BINPUT => self.put(code),
            op::MEMOIZE => self.memoize(self.memo.len() as u32),
            op::GLOBAL => self.global_of_lines(),
            op::STACK_GLOBAL => self.global_of_stack(),
            op::REDUCE => self.reduce(),
            op::BUILD => self.build(),
            op::BINPERSID => self.persistent(),
            _ => Err(Problem::Opcode(code)),
        }
    }

    fn protocol(&mut self) -> Step {
        match self.input.byte()? {
            2..=5 => Ok(()),
            other => Err(Problem::Protocol(other)),
        }
    }

    // Plain values.

    fn integer(&mut self, code: u8) -> Step {
        let value = match code {
            op::BININT => i32::from_le_bytes(self.input.array()?).into(),
            op::BININT1 => self.input.byte()?.into(),
            op::BININT2 => u16::from_le_bytes(self.input.array()?).into(),
            _ => long(self.input.counted::<1>()?)?,
        };
        self.push(Value::Int(value))
    }

    fn float(&mut self) -> Step {
        let value = f64::from_be_bytes(self.input.array()?);
        self.push(Value::Float(value))
    }

    fn text<const N: usize>(&mut self) -> Step {
        let text = utf8(self.input.counted::<N>()?)?;
        self.push(Value::Text(text))
    }

    fn global_of_lines(&mut self) -> Step {
        let (module, name) = (utf8(self.input.line()?)?, utf8(self.input.line()?)?);
        self.push(Value::Global(globals::find(module, name)?))
    }

    fn global_of_stack(&mut self) -> Step {
        let (name, module) = (self.pop()?, self.pop()?);
        let (Value::Text(module), Value::Text(name)) = (module, name) else {
            return Err(Problem::Malformed("the name of a class is no text"));
        };
        self.push(Value::Global(globals::find(module, name)?))
    }

    // Containers.

    fn tuple(&mut self, len: usize) -> Step {
        let start = self.stack.len().checked_sub(len);
        let start = start.filter(|&start| start >= self.floor());
        let items = self.stack.split_off(start.ok_or(LACKING)?);
        self.push_node(Node::Tuple(items))
    }

    fn marked_tuple(&mut self) -> Step {
        let items = self.pop_marked()?;
        self.push_node(Node::Tuple(items))
    }

    fn append(&mut self) -> Step {
        let item = self.pop()?;
        self.extend(vec![item])
    }

    fn appends(&mut self) -> Step {
        let items = self.pop_marked()?;
        self.extend(items)
    }

    fn extend(&mut self, items: Vec<Value<'a>>) -> Step {
        match self.top_node()? {
            Node::List(list) => list.extend(items),
            _ => return Err(Problem::Malformed("items are added to what is no list")),
        }
        Ok(())
    }

    fn set_item(&mut self) -> Step {
        let (value, key) = (self.pop()?, self.pop()?);
        self.insert(&[key, value])
    }

    fn set_items(&mut self) -> Step {
        let items = self.pop_marked()?;
        self.insert(&items)
    }

    fn insert(&mut self, items: &[Value<'a>]) -> Step {
        let (pairs, []) = items.as_chunks() else {
            return Err(Problem::Malformed("a key of a dict lacks its value"));
        };
        match self.top_node()? {
            Node::Dict(dict) => dict.extend(pairs.iter().map(|&[key, value]| (key, value))),
            _ => return Err(Problem::Malformed("keys are set in what is no dict")),
        }
        Ok(())
    }
}

const LACKING: Problem = Problem::Malformed("an instruction lacks its operand");

fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|_| Problem::Malformed("a text is not UTF-8"))
}

/// A whole number of up to 8 bytes, the lowest first, in two's complement.
fn long(bytes: &[u8]) -> Result<i64, Problem> {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let mut value = [if negative { 0xff } else { 0 }; 8];
    let low = value.get_mut(..bytes.len());
    let low = low.ok_or(Problem::Malformed("a whole number has more than 64 bits"))?;
    low.copy_from_slice(bytes);
    Ok(i64::from_le_bytes(value))
}
