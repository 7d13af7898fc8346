//! Decodes Python pickles as data. Nothing in a file is ever executed.
//!
//! A pickle is a program for a small stack machine. Most of its instructions push numbers and strings and
//! collect them in tuples, lists and dicts. Some call a Python function by its name. A pickle stores an object as such
//! a call, which is also why loading an unknown pickle in Python can run arbitrary code. [`decode`] runs such a program
//! without Python and only *records* each call.
//!
//! # The graph
//!
//! The result is a [`Pickle`]: a list of [`Node`]s and the root [`Value`]. Plain values (numbers,
//! strings, bytes) are stored where they are used; strings and bytes are borrowed from the input.
//! Containers and calls are nodes, and a value refers to a node by its number. Two values with the same
//! number are the same Python object, so shared objects stay shared. A list or dict can contain itself.
//!
//! A recorded [`Call`] contains the callee, the arguments, and the changes that the file would make to the returned
//! object. The reader of the graph decides what a call *means*. The reader also provides the complete list of names to
//! which a file may refer. Any other name is an error.
//!
//! ```
//! use gleaner_pickle::{Body, Value, decode};
//!
//! #[derive(Debug, Clone, Copy, PartialEq)]
//! enum Class {
//!     Point,
//! }
//!
//! // What Python writes for Point(1, 2), a named tuple of the module `shapes`.
//! let bytes = b"\x80\x02cshapes\nPoint\nq\x00K\x01K\x02\x86q\x01\x81q\x02.";
//! let pickle = decode(bytes, &[], |module, name| match (module, name) {
//!     ("shapes", "Point") => Some(Class::Point),
//!     _ => None,
//! })?;
//!
//! let Some(Body::Call(call)) = pickle.body(pickle.root) else {
//!     panic!("the root is {}", pickle.describe(pickle.root));
//! };
//! assert_eq!(call.callee, Value::Global(Class::Point));
//! assert_eq!(pickle.items(call.args), Some(&[Value::Int(1), Value::Int(2)][..]));
//!
//! // Python would run a command here. Decoding names the function and stops.
//! let hostile = b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.";
//! let error = decode(hostile, &[], |_, _| None::<Class>).unwrap_err();
//! assert!(error.to_string().starts_with("byte 2: os.system is not among the names"));
//! # Ok::<(), gleaner_pickle::PickleError>(())
//! ```
//!
//! # Limits
//!
//! This crate decodes protocols 2 to 5. It rejects files that contain sets, out-of-band buffers, names from the
//! extension registry, or instructions that exist only in protocols 0 and 1. It also rejects the rare
//! instructions POP, POP_MARK, DUP, LONG4 and NEWOBJ_EX. The error names the rejected instruction.
//!
//! Decoding creates at most [`MAX_VALUES`] values and [`MAX_NODES`] nodes, checks every length against the number of
//! remaining bytes, and does not recurse. Time and memory are proportional to the size of the input.
//! Decoding uses at most a few hundred bytes of memory per byte of input, and less than 1 GB in total.
//! The objects that the graph *describes* may be far larger: a few hundred bytes can describe a list of lists with
//! 10^20 members. Therefore, a reader of the graph must not recurse without a limit, and should spend from a [`Budget`]
//! for everything that it expands.

mod budget;
mod error;
mod machine;
pub mod opcode;
mod value;

pub use budget::Budget;
pub use error::{PickleError, Problem};
pub use value::{Body, Call, Node, Pickle, Value};

/// Maximum number of values that a pickle is allowed to push. Each number, string, name and node counts as a value, and
/// so does each reference to one of these.
pub const MAX_VALUES: usize = 1 << 23;
/// Maximum number of containers and calls that a pickle is allowed to create. It is also the maximum number of marks
/// that are allowed to be open at a time.
pub const MAX_NODES: usize = 1 << 21;

/// Decodes the pickle at the start of `bytes`. The pickle ends after [`Pickle::length`] bytes.
///
/// `global` represents the list of accepted names: it returns the meaning of the class or function `module.name`, or
/// `None` to refuse the file. `refused` lists the [instructions](opcode) that must not occur in files of this kind.
/// They are refused in addition to the unsupported instructions.
///
/// # Errors
/// The pickle is damaged, contains a refused name or instruction, or exceeds a limit. The error contains the offset of
/// the faulty instruction.
pub fn decode<'a, G: Copy>(
    bytes: &'a [u8],
    refused: &[u8],
    global: impl Fn(&str, &str) -> Option<G>,
) -> Result<Pickle<'a, G>, PickleError> {
    machine::run(bytes, refused, &global)
}
