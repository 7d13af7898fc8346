//! The few calls that make tensors and containers.

use super::{LACKING, Machine, Step};
use crate::torch::Problem;
use crate::torch::globals::Global;
use crate::torch::value::{Node, Storage, Value, View};

impl<'a> Machine<'a> {
    /// Calls what is below the top of the stack with the tuple on top of it.
    pub(super) fn reduce(&mut self) -> Step {
        let (arguments, callee) = (self.pop()?, self.pop()?);
        let arguments = self.items(arguments)?;
        match callee {
            Value::Global(Global::OrderedDict) if arguments.is_empty() => {
                self.push_node(Node::Dict(Vec::new()))
            }
            Value::Global(Global::Tensor) => {
                let tensor = Node::Tensor(self.tensor(&arguments)?);
                self.push_node(tensor)
            }
            Value::Global(Global::Parameter) => self.parameter(&arguments),
            _ => Err(Problem::Malformed("something is called that cannot be")),
        }
    }

    /// Attributes of an ordered dict, such as the versions of a model's layers, are not kept.
    pub(super) fn build(&mut self) -> Step {
        self.pop()?;
        match self.top_node()? {
            Node::Dict(_) => Ok(()),
            _ => Err(Problem::Malformed(
                "attributes are given to what is no dict",
            )),
        }
    }

    /// `("storage", type, key, location, length)`, in legacy files with a view of it that is
    /// `None`.
    pub(super) fn persistent(&mut self) -> Step {
        let reference = self.pop()?;
        let items = self.items(reference)?;
        let (fields, view) = items.split_at(items.len().min(5));
        let &[
            Value::Text("storage"),
            Value::Global(Global::Storage(kind)),
            Value::Text(key),
            Value::Text(_),
            len,
        ] = fields
        else {
            return Err(Problem::Malformed(
                "a reference out of the pickle is not to values",
            ));
        };
        if !matches!(view, [] | [Value::None]) {
            return Err(Problem::Malformed("views of storages are not read"));
        }
        let len = count(len)?;
        self.push_node(Node::Storage(Storage { kind, key, len }))
    }

    /// `(storage, offset, shape, strides, requires_grad, hooks)` and later `metadata`.
    fn tensor(&self, arguments: &[Value]) -> Result<View, Problem> {
        let &[
            Value::Node(storage),
            offset,
            shape,
            strides,
            _,
            _,
            ref metadata @ ..,
        ] = arguments
        else {
            return Err(Problem::Malformed("a tensor lacks its parts"));
        };
        if metadata.len() > 1 {
            return Err(Problem::Malformed("a tensor has too many parts"));
        }
        if !matches!(self.nodes.get(storage as usize), Some(Node::Storage(_))) {
            return Err(Problem::Malformed("a tensor has no storage"));
        }
        let (shape, strides) = (self.counts(shape)?, self.counts(strides)?);
        if shape.len() != strides.len() {
            return Err(Problem::Malformed(
                "a tensor has not a stride for each dimension",
            ));
        }
        Ok(View {
            storage,
            offset: count(offset)?,
            shape,
            strides,
        })
    }

    fn counts(&self, tuple: Value) -> Result<Vec<usize>, Problem> {
        self.items(tuple)?.into_iter().map(count).collect()
    }

    /// `(tensor, requires_grad, hooks)`: its tensor.
    fn parameter(&mut self, arguments: &[Value<'a>]) -> Step {
        match *arguments {
            [Value::Node(id), _, _]
                if matches!(self.nodes.get(id as usize), Some(Node::Tensor(_))) =>
            {
                self.push(Value::Node(id))
            }
            _ => Err(Problem::Malformed("a parameter has no tensor")),
        }
    }

    fn items(&self, tuple: Value) -> Result<Vec<Value<'a>>, Problem> {
        match tuple {
            Value::Node(id) => match self.nodes.get(id as usize) {
                Some(Node::Tuple(items)) if items.len() <= MOST_ITEMS => Ok(items.clone()),
                Some(Node::Tuple(_)) => Err(Problem::Malformed("a tuple is too long")),
                _ => Err(Problem::Malformed("a tuple is none")),
            },
            _ => Err(LACKING),
        }
    }
}

/// The most dimensions of a tensor, as in torch, and the most parts of anything else that is
/// called.
const MOST_ITEMS: usize = 64;

fn count(value: Value) -> Result<usize, Problem> {
    let count = match value {
        Value::Int(count) => usize::try_from(count).ok(),
        _ => None,
    };
    count.ok_or(Problem::Malformed(
        "a size is not a whole number of at least 0",
    ))
}
