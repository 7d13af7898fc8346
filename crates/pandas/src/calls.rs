//! Checks the calls that a pickle records, and finds the class or function that is the target of each call.

use gleaner_pickle::Body;

use super::error::{PickleError, Problem};
use super::globals::{self, Global};
use super::graph::{Pickle, Recorded, Value};

/// Rejects calls that no table needs, wherever they are in the pickle.
pub(super) fn check(pickle: &Pickle<'_>) -> Result<(), PickleError> {
    for node in &pickle.nodes {
        if let Body::Call(call) = &node.body {
            check_call(pickle, call).map_err(|problem| problem.at(node.at))?;
        }
    }
    Ok(())
}

/// Checks one call. Two functions that return functions are accepted, each only with one specific
/// argument list.
fn check_call<'a>(pickle: &Pickle<'a>, call: &Recorded<'a>) -> Result<(), Problem> {
    let args = pickle.items(call.args).unwrap_or_default();
    let zone = [Value::Global(Global::ZoneInfo), Value::Text("_unpickle")];
    match class(pickle, call) {
        None => Err(Problem::Malformed(
            "an object that is not a function is called",
        )),
        Some(_) if !call.entries.is_empty() => Err(Problem::Malformed(
            "entries are added to an object that is not a dict",
        )),
        Some(Global::Partial) if args != [Value::Global(Global::Block)] => {
            Err(globals::refusal("functools", "partial"))
        }
        Some(Global::GetAttr) if args != zone => Err(globals::refusal("builtins", "getattr")),
        Some(_) => Ok(()),
    }
}

/// The target of a call: a name on the closed list, or the function that another call would return.
pub(super) fn class<'a>(pickle: &Pickle<'a>, call: &Recorded<'a>) -> Option<Global> {
    if let Value::Global(class) = call.callee {
        return Some(class);
    }
    match pickle.body(call.callee)? {
        Body::Call(inner) => match inner.callee {
            Value::Global(Global::Partial) => Some(Global::Block),
            Value::Global(Global::GetAttr) => Some(Global::Ignored),
            _ => None,
        },
        _ => None,
    }
}
