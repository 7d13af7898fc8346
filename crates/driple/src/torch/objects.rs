//! Interprets the values and recorded calls of a pickle as tensors, storages and containers.

use gleaner_pickle::{Body, Call, opcode as op};

use super::globals::{self, Global, Kind};
use super::{Problem, TorchError};

pub(super) type Pickle<'a> = gleaner_pickle::Pickle<'a, Global>;
pub(super) type Value<'a> = gleaner_pickle::Value<'a, Global>;

/// Pickle instructions that are rejected, because tensors do not need them.
const REFUSED: [u8; 5] = [
    op::NEWOBJ,
    op::SHORT_BINBYTES,
    op::BINBYTES,
    op::BINBYTES8,
    op::BYTEARRAY8,
];

/// The maximum number of dimensions of a tensor, as in torch. It is also the maximum number of
/// arguments of a call.
const MAX_ITEMS: usize = 64;

/// An object of a pickle.
pub(super) enum Object<'p, 'a> {
    Tuple(&'p [Value<'a>]),
    List(&'p [Value<'a>]),
    /// A dict or ordered dict. Attributes of an ordered dict, such as the versions of a model's
    /// layers, are ignored.
    Dict(&'p [(Value<'a>, Value<'a>)]),
    Tensor(View<'a>),
    /// A number, string or name, or a reference to the values of tensors.
    Plain,
}

/// The values of one or more tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Storage<'a> {
    pub kind: Kind,
    /// The name of the storage in the file.
    pub key: &'a str,
    /// The number of values in the storage.
    pub len: usize,
}

/// A tensor as a view of a storage. The offset and the strides count values, not bytes.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub storage: Storage<'a>,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<usize>,
}

/// Decodes the pickle at the start of `bytes` and checks its objects. `name` is the pickle's name
/// in error messages.
pub(super) fn decode<'a>(bytes: &'a [u8], name: &'static str) -> Result<Pickle<'a>, TorchError> {
    let fault = |offset, problem| TorchError::Pickle {
        pickle: name,
        offset,
        problem,
    };
    let pickle = gleaner_pickle::decode(bytes, &REFUSED, globals::find)
        .map_err(|error| fault(error.offset, Problem::Pickle(error.problem)))?;
    for node in &pickle.nodes {
        read(&pickle, &node.body).map_err(|problem| fault(node.at, problem))?;
    }
    Ok(pickle)
}

/// All storages that a pickle refers to, including duplicates.
pub(super) fn storages<'a>(pickle: &Pickle<'a>) -> impl Iterator<Item = Storage<'a>> {
    pickle.nodes.iter().filter_map(|node| match node.body {
        Body::Persistent(id) => storage(pickle, id).ok(),
        _ => None,
    })
}

/// The object that a value represents. The contents of containers are not read, so a container that contains itself
/// does not cause endless recursion.
pub(super) fn object<'p, 'a>(pickle: &'p Pickle<'a>, value: Value<'a>) -> Object<'p, 'a> {
    // `decode` has already checked every object, so this conversion cannot fail.
    let object = pickle.body(value).map(|body| read(pickle, body));
    object.and_then(Result::ok).unwrap_or(Object::Plain)
}

/// A description of a value for error messages.
pub(super) fn describe<'a>(pickle: &Pickle<'a>, value: Value<'a>) -> String {
    match object(pickle, value) {
        Object::Dict(_) => "a dict".to_owned(),
        Object::Tensor(_) => "a tensor".to_owned(),
        // Instructions for bytes objects are rejected, so these bytes can only be a string that is
        // not UTF-8.
        _ if matches!(value, Value::Bytes(_)) => "a string that is not UTF-8".to_owned(),
        _ => pickle.describe(value),
    }
}

fn read<'p, 'a>(
    pickle: &Pickle<'a>,
    body: &'p Body<'a, Global>,
) -> Result<Object<'p, 'a>, Problem> {
    Ok(match body {
        Body::Tuple(items) => Object::Tuple(items),
        Body::List(items) => Object::List(items),
        Body::Dict(entries) => Object::Dict(entries),
        Body::Persistent(id) => storage(pickle, *id).map(|_| Object::Plain)?,
        Body::Call(call) => returned(pickle, call)?,
    })
}

/// The object that a call would return if it were executed.
fn returned<'p, 'a>(
    pickle: &Pickle<'a>,
    call: &'p Call<'a, Global>,
) -> Result<Object<'p, 'a>, Problem> {
    let arguments = items(pickle, call.args)?;
    let tensor = match call.callee {
        Value::Global(Global::OrderedDict) if arguments.is_empty() => {
            return Ok(Object::Dict(&call.entries));
        }
        Value::Global(Global::Tensor) => tensor(pickle, arguments)?,
        Value::Global(Global::Parameter) => parameter(pickle, arguments)?,
        _ => {
            return Err(Problem::Malformed("a call's target is not a function"));
        }
    };
    if call.state.is_none() && call.entries.is_empty() {
        Ok(Object::Tensor(tensor))
    } else {
        Err(Problem::Malformed("a tensor has attributes or entries"))
    }
}

/// Parses `("storage", type, key, location, length)`. In legacy files, a view follows, which must
/// be `None`.
fn storage<'a>(pickle: &Pickle<'a>, reference: Value<'a>) -> Result<Storage<'a>, Problem> {
    match *items(pickle, reference)? {
        [
            Value::Text("storage"),
            Value::Global(Global::Storage(kind)),
            Value::Text(key),
            Value::Text(_),
            len,
            ref view @ ..,
        ] => match view {
            [] | [Value::None] => Ok(Storage {
                kind,
                key,
                len: count(len)?,
            }),
            _ => Err(Problem::Malformed("views of storages are not supported")),
        },
        _ => Err(Problem::Malformed(
            "a persistent reference does not refer to a storage",
        )),
    }
}

/// Parses `(storage, offset, shape, strides, requires_grad, hooks)`, followed by `metadata` in
/// files of newer versions of torch.
fn tensor<'a>(pickle: &Pickle<'a>, arguments: &[Value<'a>]) -> Result<View<'a>, Problem> {
    let &[values, offset, shape, strides, _, _, ref metadata @ ..] = arguments else {
        return Err(Problem::Malformed("a tensor has too few parts"));
    };
    if metadata.len() > 1 {
        return Err(Problem::Malformed("a tensor has too many parts"));
    }
    let Some(Body::Persistent(id)) = pickle.body(values) else {
        return Err(Problem::Malformed("a tensor has no storage"));
    };
    let (shape, strides) = (counts(pickle, shape)?, counts(pickle, strides)?);
    if shape.len() != strides.len() {
        return Err(Problem::Malformed(
            "a tensor does not have one stride per dimension",
        ));
    }
    Ok(View {
        storage: storage(pickle, *id)?,
        offset: count(offset)?,
        shape,
        strides,
    })
}

/// Returns the tensor of `(tensor, requires_grad, hooks)`.
fn parameter<'a>(pickle: &Pickle<'a>, arguments: &[Value<'a>]) -> Result<View<'a>, Problem> {
    if let &[value, _, _] = arguments
        && let Some(Body::Call(call)) = pickle.body(value)
        && call.callee == Value::Global(Global::Tensor)
    {
        return tensor(pickle, items(pickle, call.args)?);
    }
    Err(Problem::Malformed("a parameter has no tensor"))
}

fn counts<'a>(pickle: &Pickle<'a>, tuple: Value<'a>) -> Result<Vec<usize>, Problem> {
    items(pickle, tuple)?.iter().copied().map(count).collect()
}

fn count(value: Value) -> Result<usize, Problem> {
    let count = value.as_usize();
    count.ok_or(Problem::Malformed("a size is negative or not an integer"))
}

/// The items of a tuple.
fn items<'p, 'a>(pickle: &'p Pickle<'a>, tuple: Value<'a>) -> Result<&'p [Value<'a>], Problem> {
    match pickle.body(tuple) {
        Some(Body::Tuple(items)) if items.len() <= MAX_ITEMS => Ok(items),
        Some(Body::Tuple(_)) => Err(Problem::Malformed("a tuple is too long")),
        _ => Err(Problem::Malformed("expected a tuple, found another value")),
    }
}
