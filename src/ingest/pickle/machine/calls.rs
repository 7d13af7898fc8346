//! Instructions that name classes and record calls.

use super::super::error::{PickleError, Problem};
use super::super::globals::{self, Global};
use super::super::opcode as op;
use super::super::value::{Body, Call, Value};
use super::{Machine, Step};

/// The longest module or class name, in bytes.
const MAX_NAME: usize = 256;

impl<'a> Machine<'a> {
    pub(super) fn global_lines(&mut self) -> Step {
        let what = "a class name";
        let module = self.input.line(MAX_NAME, what)?;
        let name = self.input.line(MAX_NAME, what)?;
        match (std::str::from_utf8(module), std::str::from_utf8(name)) {
            (Ok(module), Ok(name)) => self.global(module, name),
            _ => Err(Problem::Utf8.at(self.at)),
        }
    }

    pub(super) fn global_from_stack(&mut self) -> Step {
        match (self.pop()?, self.pop()?) {
            (Value::Text(name), Value::Text(module)) => self.global(module, name),
            _ => Err(self.malformed("a class name is not a text")),
        }
    }

    fn global(&mut self, module: &str, name: &str) -> Step {
        let global = globals::find(module, name).map_err(|problem| problem.at(self.at))?;
        self.push(Value::Global(global))
    }

    pub(super) fn call(&mut self, code: u8) -> Step {
        let args = self.pop()?;
        let class = match self.pop()? {
            Value::Global(class) => class,
            Value::Node(id) if code == op::REDUCE => self.called(id)?,
            _ => return Err(self.malformed("something that is not a class is called")),
        };
        self.check_indirect(class, args)?;
        let state = None;
        self.push_node(Body::Call(Call { class, args, state }))
    }

    /// What a recorded call may stand for where it is called in turn.
    fn called(&self, id: u32) -> Result<Global, PickleError> {
        match self.nodes.get(id as usize).map(|node| &node.body) {
            Some(Body::Call(call)) if call.class == Global::Partial => Ok(Global::Block),
            Some(Body::Call(call)) if call.class == Global::GetAttr => Ok(Global::Ignored),
            _ => Err(self.malformed("something that is not a class is called")),
        }
    }

    /// The two functions that yield functions are listed for one use each.
    fn check_indirect(&self, class: Global, args: Value<'a>) -> Step {
        let args: &[Value<'a>] = match args {
            Value::Node(id) => match self.nodes.get(id as usize).map(|node| &node.body) {
                Some(Body::Tuple(args)) => args,
                _ => &[],
            },
            _ => &[],
        };
        let zone = [Value::Global(Global::ZoneInfo), Value::Text("_unpickle")];
        match class {
            Global::Partial if args != [Value::Global(Global::Block)] => {
                Err(globals::refusal("functools", "partial").at(self.at))
            }
            Global::GetAttr if args != zone => {
                Err(globals::refusal("builtins", "getattr").at(self.at))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn build(&mut self) -> Step {
        let state = self.pop()?;
        let at = self.at;
        match self.top_body()? {
            Some(Body::Call(call)) if call.state.is_none() => {
                call.state = Some(state);
                Ok(())
            }
            _ => Err(Problem::Malformed("a value that is not a new object is filled").at(at)),
        }
    }
}
