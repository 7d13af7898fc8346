//! The item types of numpy arrays.

use super::buffer;
use super::cell::{Cell, NAT};
use super::error::{PickleError, Problem};
use super::globals::Global;
use super::graph::{Graph, Item, Value};

/// The type of the items of a [`Matrix`](super::Matrix), stored little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemType {
    /// One byte, 0 or 1.
    Bool,
    /// Signed integer of 8 bits.
    I8,
    /// Signed integer of 16 bits.
    I16,
    /// Signed integer of 32 bits.
    I32,
    /// Signed integer of 64 bits.
    I64,
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// Binary floating point of 32 bits.
    F32,
    /// Binary floating point of 64 bits.
    F64,
    /// Time since 1970-01-01 UTC as a signed 64-bit number of units, or
    /// [`NAT`].
    Datetime(TimeUnit),
}

/// The unit in which times are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// Converts a value of this unit to nanoseconds; [`NAT`] is unchanged.
    /// Returns `None` if the result does not fit in 64 bits.
    pub fn to_ns(self, value: i64) -> Option<i64> {
        let factor = match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1_000,
            Self::Nanoseconds => 1,
        };
        match value {
            NAT => Some(NAT),
            _ => value.checked_mul(factor).filter(|&ns| ns != NAT),
        }
    }

    /// The name of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    fn from_numpy(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"s" => Self::Seconds,
            b"ms" => Self::Milliseconds,
            b"us" => Self::Microseconds,
            b"ns" => Self::Nanoseconds,
            _ => return None,
        })
    }
}

impl ItemType {
    /// Number of bytes of an item.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::Datetime(_) => 8,
        }
    }

    /// The name of the type in pandas.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::Datetime(_) => "datetime64",
        }
    }

    /// The item stored in `bytes`, whose length is [`ItemType::size`].
    pub(super) fn cell(self, bytes: &[u8]) -> Cell<'static> {
        match self {
            Self::Bool => Cell::Bool(bytes.first() != Some(&0)),
            Self::I8 => Cell::Int(i8::from_le_bytes(fixed(bytes)).into()),
            Self::I16 => Cell::Int(i16::from_le_bytes(fixed(bytes)).into()),
            Self::I32 => Cell::Int(i32::from_le_bytes(fixed(bytes)).into()),
            Self::I64 => Cell::Int(i64::from_le_bytes(fixed(bytes))),
            Self::U8 => Cell::Int(u8::from_le_bytes(fixed(bytes)).into()),
            Self::U16 => Cell::Int(u16::from_le_bytes(fixed(bytes)).into()),
            Self::U32 => Cell::Int(u32::from_le_bytes(fixed(bytes)).into()),
            Self::U64 => match i64::try_from(u64::from_le_bytes(fixed(bytes))) {
                Ok(value) => Cell::Int(value),
                Err(_) => Cell::Other("an integer of 2^63 or more"),
            },
            Self::F32 => Cell::Float(f32::from_le_bytes(fixed(bytes)).into()),
            Self::F64 => Cell::Float(f64::from_le_bytes(fixed(bytes))),
            Self::Datetime(unit) => match unit.to_ns(i64::from_le_bytes(fixed(bytes))) {
                Some(ns) => Cell::DatetimeNs(ns),
                None => Cell::Other("a time outside the years 1678 to 2261"),
            },
        }
    }

    fn from_numpy(code: &str) -> Option<Self> {
        Some(match code {
            "b1" => Self::Bool,
            "i1" => Self::I8,
            "i2" => Self::I16,
            "i4" => Self::I32,
            "i8" => Self::I64,
            "u1" => Self::U8,
            "u2" => Self::U16,
            "u4" => Self::U32,
            "u8" => Self::U64,
            "f4" => Self::F32,
            "f8" => Self::F64,
            _ => return None,
        })
    }
}

/// Converts bytes to an array. Callers pass exactly as many bytes as the type has. A shorter slice would be padded with
/// zeros.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}

/// The kind of an array's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dtype {
    /// Numbers, booleans or times, stored as bytes.
    Items(ItemType),
    /// References to Python objects.
    Objects,
}

/// Reads a call such as `dtype('i8', False, True)` and its state `(3, '<',
/// None, None, None, -1, -1, 0)`. For times, the state has a ninth member
/// `(metadata, (unit, count, 1, 1))`.
pub(super) fn read<'a>(graph: &Graph<'a>, item: Item<'a>) -> Result<Dtype, PickleError> {
    const EXPECTED: &str = "the item type of an array";
    let unexpected = || graph.unexpected(item, EXPECTED);
    let call = graph
        .call(item)
        .filter(|call| call.class == Global::Dtype)
        .ok_or_else(unexpected)?;
    let args = graph.child(item, call.args);
    let code = graph
        .sequence(args)
        .and_then(|args| args.first().copied())
        .and_then(Value::as_text)
        .ok_or_else(unexpected)?;
    let state = call.state.map(|state| graph.child(item, state));
    let state = state.and_then(|state| graph.sequence(state)).unwrap_or(&[]);
    let order = state
        .get(1)
        .copied()
        .and_then(Value::as_text)
        .unwrap_or("<");
    let found = match (code, order) {
        (_, ">") => None,
        ("O" | "O4" | "O8", _) => Some(Dtype::Objects),
        ("M8", _) => unit(graph, item, state).map(|unit| Dtype::Items(ItemType::Datetime(unit))),
        _ => ItemType::from_numpy(code).map(Dtype::Items),
    };
    found.ok_or_else(|| {
        let found = format!("{order}{code}").escape_debug().take(40).collect();
        Problem::ItemType { found }.at(item.at)
    })
}

/// The unit of `datetime64` items.
fn unit<'a>(graph: &Graph<'a>, item: Item<'a>, state: &[Value<'a>]) -> Option<TimeUnit> {
    let metadata = graph.child(item, *state.get(8)?);
    let (_, description) = match graph.sequence(metadata)? {
        [first, second] => (first, graph.child(item, *second)),
        _ => return None,
    };
    let (name, count) = match graph.sequence(description)? {
        [name, count, ..] => (*name, *count),
        _ => return None,
    };
    if count.as_usize() != Some(1) {
        return None;
    }
    // The unit's name is a byte string, which protocol 2 writes as a call.
    let name = buffer::read(graph, graph.child(item, name)).ok()?;
    TimeUnit::from_numpy(&name)
}
