//! Instructions that refer to classes and functions by name, and instructions that record calls.

use super::{Machine, Step, op};
use crate::error::Problem;
use crate::value::{Body, Call, Value};

/// Maximum length in bytes of the name of a module, class or function, including the line feed.
const MAX_NAME: usize = 256;

impl<'a, G: Copy> Machine<'a, '_, G> {
    pub(super) fn global_of_lines(&mut self) -> Step {
        let module = self.line(MAX_NAME)?;
        let name = self.line(MAX_NAME)?;
        self.global(module, name)
    }

    pub(super) fn global_of_stack(&mut self) -> Step {
        match (self.pop()?, self.pop()?) {
            (Value::Text(name), Value::Text(module)) => self.global(module, name),
            (Value::Text(_), other) | (other, _) => Err(self.mismatch("two texts", other)),
        }
    }

    fn global(&mut self, module: &str, name: &str) -> Step {
        match (self.global)(module, name) {
            Some(global) => self.push(Value::Global(global)),
            None => Err(Problem::Global {
                module: shown(module),
                name: shown(name),
            }),
        }
    }

    /// Records a call: the tuple on top of the stack contains the arguments, and the value below it
    /// is the callee.
    pub(super) fn call(&mut self) -> Step {
        let args = self.pop()?;
        let callee = self.pop()?;
        match callee {
            Value::Global(_) => {}
            _ if self.code == op::REDUCE && self.is_call(callee) => {}
            _ => return Err(self.mismatch("a class or function", callee)),
        }
        if !matches!(self.pickle.body(args), Some(Body::Tuple(_))) {
            return Err(self.mismatch("a tuple of arguments", args));
        }
        self.push_node(Body::Call(Box::new(Call {
            callee,
            args,
            state: None,
            entries: Vec::new(),
        })))
    }

    fn is_call(&self, value: Value<'a, G>) -> bool {
        matches!(self.pickle.body(value), Some(Body::Call(_)))
    }

    pub(super) fn build(&mut self) -> Step {
        let state = self.pop()?;
        let top = self.top()?;
        match self.body_mut(top) {
            Some(Body::Call(call)) if call.state.is_none() => call.state = Some(state),
            Some(Body::Call(_)) => {
                return Err(self.needs("a new object", "an object whose state is already set"));
            }
            _ => return Err(self.mismatch("an object", top)),
        }
        Ok(())
    }

    pub(super) fn persistent(&mut self) -> Step {
        let id = self.pop()?;
        self.push_node(Body::Persistent(id))
    }
}

/// Shortens a name for messages and escapes its control characters.
fn shown(name: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = name.escape_debug().take(SHOWN).collect();
    if shown.chars().count() == SHOWN {
        shown += "...";
    }
    shown
}
