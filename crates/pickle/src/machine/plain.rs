//! Instructions that push plain values.

use super::{Machine, Step, op};
use crate::error::Problem;
use crate::value::Value;

impl<'a, G: Copy> Machine<'a, '_, G> {
    pub(super) fn protocol(&mut self) -> Step {
        match self.byte()? {
            2..=5 => Ok(()),
            other => Err(Problem::Protocol(other)),
        }
    }

    /// Reads the length of a frame, and checks that the input contains the whole frame. The
    /// instructions in a frame are read like all other instructions.
    pub(super) fn frame(&mut self) -> Step {
        let needed = u64::from_le_bytes(self.array()?);
        match usize::try_from(needed) {
            Ok(needed) if needed <= self.bytes.len() - self.next => Ok(()),
            _ => Err(self.truncated(needed)),
        }
    }

    pub(super) fn integer(&mut self) -> Step {
        let value = match self.code {
            op::BININT1 => Value::Int(self.byte()?.into()),
            op::BININT2 => Value::Int(u16::from_le_bytes(self.array()?).into()),
            op::BININT => Value::Int(i32::from_le_bytes(self.array()?).into()),
            _ => long(self.counted::<1>()?),
        };
        self.push(value)
    }

    pub(super) fn float(&mut self) -> Step {
        let value = f64::from_be_bytes(self.array()?);
        self.push(Value::Float(value))
    }

    pub(super) fn text<const N: usize>(&mut self) -> Step {
        let bytes = self.counted::<N>()?;
        let text = self.utf8(bytes)?;
        self.push(Value::Text(text))
    }

    /// Pushes a Python 2 string: text if it is UTF-8, otherwise bytes.
    pub(super) fn string<const N: usize>(&mut self) -> Step {
        let bytes = self.counted::<N>()?;
        self.push(match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text),
            Err(_) => Value::Bytes(bytes),
        })
    }

    pub(super) fn block<const N: usize>(&mut self) -> Step {
        let bytes = self.counted::<N>()?;
        self.push(Value::Bytes(bytes))
    }
}

/// Converts a little-endian integer in two's complement to a value.
fn long<'a, G>(bytes: &'a [u8]) -> Value<'a, G> {
    let negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    match wide.get_mut(..bytes.len()) {
        Some(low) => low.copy_from_slice(bytes),
        None => return Value::Long(bytes),
    }
    Value::Int(i64::from_le_bytes(wide))
}
