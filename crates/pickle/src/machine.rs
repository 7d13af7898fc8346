//! The stack machine, which records calls instead of making them.

mod containers;
mod globals;
mod input;
mod plain;

use crate::error::{PickleError, Problem};
use crate::opcode as op;
use crate::value::{Body, Node, Pickle, Value};
use crate::{MAX_NODES, MAX_VALUES};

/// Decodes the pickle at the start of `bytes` (see [`crate::decode`]).
pub(crate) fn run<'a, G: Copy>(
    bytes: &'a [u8],
    refused: &[u8],
    global: &dyn Fn(&str, &str) -> Option<G>,
) -> Result<Pickle<'a, G>, PickleError> {
    let mut machine = Machine {
        refused: [false; 256],
        global,
        bytes,
        next: 0,
        at: 0,
        code: op::PROTO,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Vec::new(),
        pushed: 0,
        pickle: Pickle {
            nodes: Vec::new(),
            root: Value::None,
            length: 0,
        },
    };
    for &code in refused {
        machine.refused[usize::from(code)] = true;
    }
    match machine.instructions() {
        Ok(()) => Ok(machine.pickle),
        Err(problem) => Err(PickleError {
            offset: machine.at,
            problem,
        }),
    }
}

struct Machine<'a, 'c, G> {
    /// For each code, whether the caller refuses the instruction.
    refused: [bool; 256],
    /// The caller's list of accepted names.
    global: &'c dyn Fn(&str, &str) -> Option<G>,
    bytes: &'a [u8],
    /// Offset of the next unread byte.
    next: usize,
    /// Offset and code of the current instruction.
    at: usize,
    code: u8,
    stack: Vec<Value<'a, G>>,
    /// Stack heights at the open marks.
    marks: Vec<usize>,
    memo: Vec<Option<Value<'a, G>>>,
    /// Number of values pushed so far.
    pushed: usize,
    /// The result so far.
    pickle: Pickle<'a, G>,
}

type Step = Result<(), Problem>;

impl<'a, G: Copy> Machine<'a, '_, G> {
    fn instructions(&mut self) -> Step {
        self.header()?;
        loop {
            self.at = self.next;
            // At the end of the input, the error reports STOP as the missing instruction.
            self.code = op::STOP;
            self.code = self.byte()?;
            if self.code == op::STOP {
                return self.stop();
            }
            self.step()?;
        }
    }

    fn header(&self) -> Step {
        let found = match self.bytes {
            [op::PROTO, ..] => return Ok(()),
            [] => "is empty".to_owned(),
            bytes => format!("starts with bytes {:02x?}", &bytes[..bytes.len().min(4)]),
        };
        Err(Problem::NotAPickle { found })
    }

    fn stop(&mut self) -> Step {
        self.pickle.root = self.pop()?;
        self.pickle.length = self.next;
        let (values, marks) = (self.stack.len(), self.marks.len());
        if values == 0 && marks == 0 {
            return Ok(());
        }
        let found = format!("{values} more values and {marks} open marks");
        Err(self.needs("a single value on the stack", found))
    }

    fn step(&mut self) -> Step {
        if self.refused[usize::from(self.code)] {
            return Err(self.refusal());
        }
        match self.code {
            op::PROTO => self.protocol(),
            op::FRAME => self.frame(),
            op::NONE => self.push(Value::None),
            op::NEWTRUE => self.push(Value::Bool(true)),
            op::NEWFALSE => self.push(Value::Bool(false)),
            op::BININT | op::BININT1 | op::BININT2 | op::LONG1 => self.integer(),
            op::BINFLOAT => self.float(),
            op::SHORT_BINUNICODE => self.text::<1>(),
            op::BINUNICODE => self.text::<4>(),
            op::BINUNICODE8 => self.text::<8>(),
            op::SHORT_BINSTRING => self.string::<1>(),
            op::BINSTRING => self.string::<4>(),
            op::SHORT_BINBYTES => self.block::<1>(),
            op::BINBYTES => self.block::<4>(),
            op::BINBYTES8 | op::BYTEARRAY8 => self.block::<8>(),
            op::MARK => self.mark(),
            op::EMPTY_TUPLE => self.tuple(0),
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
            op::BINGET | op::LONG_BINGET => self.get(),
            op::BINPUT | op::LONG_BINPUT => self.put(),
            op::MEMOIZE => self.memoize(self.memo.len()),
            op::GLOBAL => self.global_of_lines(),
            op::STACK_GLOBAL => self.global_of_stack(),
            op::REDUCE | op::NEWOBJ => self.call(),
            op::BUILD => self.build(),
            op::BINPERSID => self.persistent(),
            _ => Err(self.refusal()),
        }
    }

    fn refusal(&self) -> Problem {
        let (code, name) = (self.code, op::name(self.code));
        Problem::Instruction { code, name }
    }

    /// Returns the problem to report if the current instruction needs `expected` but finds `found`.
    fn needs(&self, expected: &'static str, found: impl Into<String>) -> Problem {
        Problem::Malformed {
            instruction: op::name(self.code),
            expected,
            found: found.into(),
        }
    }

    /// Like `needs`, but describes the value that was found.
    fn mismatch(&self, expected: &'static str, found: Value<'a, G>) -> Problem {
        self.needs(expected, self.pickle.describe(found))
    }

    // The stack.

    fn push(&mut self, value: Value<'a, G>) -> Step {
        below(self.pushed, MAX_VALUES, "separate values")?;
        self.pushed += 1;
        self.stack.push(value);
        Ok(())
    }

    fn push_node(&mut self, body: Body<'a, G>) -> Step {
        below(self.pickle.nodes.len(), MAX_NODES, "lists and objects")?;
        // MAX_NODES fits into 32 bits, so the cast is exact.
        let id = self.pickle.nodes.len() as u32;
        self.pickle.nodes.push(Node { at: self.at, body });
        self.push(Value::Node(id))
    }

    fn pop(&mut self) -> Result<Value<'a, G>, Problem> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    /// The top value of the stack, if it is above the last open mark.
    fn top(&self) -> Result<Value<'a, G>, Problem> {
        let values = self.stack.get(self.floor()..).unwrap_or_default();
        let top = values.last().copied();
        top.ok_or_else(|| self.needs("an operand", "none on the stack"))
    }

    /// Stack height at the last open mark.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn mark(&mut self) -> Step {
        below(self.marks.len(), MAX_NODES, "nested parts")?;
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Removes the last open mark and the values above it.
    fn pop_marked(&mut self) -> Result<Vec<Value<'a, G>>, Problem> {
        match self.marks.pop() {
            Some(start) => Ok(self.stack.drain(start..).collect()),
            None => Err(self.needs("an open mark", "none")),
        }
    }

    // The memo.

    fn get(&mut self) -> Step {
        let index = self.memo_index()?;
        match self.memo.get(index) {
            Some(&Some(value)) => self.push(value),
            _ => Err(self.needs("a memoized value", format!("none at {index}"))),
        }
    }

    fn put(&mut self) -> Step {
        let index = self.memo_index()?;
        self.memoize(index)
    }

    fn memo_index(&mut self) -> Result<usize, Problem> {
        match self.code {
            op::BINGET | op::BINPUT => Ok(self.byte()?.into()),
            _ => Ok(u32::from_le_bytes(self.array()?) as usize),
        }
    }

    /// Stores the top value of the stack in the memo. Python numbers memoized values consecutively,
    /// and some versions start at 1. Therefore, a number that exceeds the next expected number by more than 1 is a
    /// fault. This prevents a short file from requesting a large memo.
    fn memoize(&mut self, index: usize) -> Step {
        let value = self.top()?;
        let next = self.memo.len();
        below(next, MAX_VALUES, "memoized values")?;
        if index > next + 1 {
            let found = format!("{index} instead of {next}");
            return Err(self.needs("consecutive memo numbers", found));
        }
        if index >= next {
            self.memo.resize(index + 1, None);
        }
        self.memo[index] = Some(value);
        Ok(())
    }
}

/// Returns an error if `count` has reached `limit`.
fn below(count: usize, limit: usize, what: &'static str) -> Step {
    if count < limit {
        return Ok(());
    }
    Err(Problem::Limit { what, limit })
}
