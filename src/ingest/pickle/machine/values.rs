//! Instructions that push plain values.

use super::super::error::Problem;
use super::super::opcode as op;
use super::super::value::Value;
use super::{Machine, Step};

impl<'a> Machine<'a> {
    pub(super) fn protocol(&mut self) -> Step {
        match self.input.byte("the protocol number")? {
            2..=5 => Ok(()),
            other => Err(Problem::Protocol(other).at(self.at)),
        }
    }

    pub(super) fn frame(&mut self) -> Step {
        let what = "a section of the pickle";
        let needed = u64::from_le_bytes(self.input.array(what)?);
        let left = self.input.left();
        if needed <= left as u64 {
            return Ok(());
        }
        Err(Problem::Truncated { what, needed, left }.at(self.at))
    }

    pub(super) fn integer(&mut self, code: u8) -> Step {
        let what = "an integer";
        let value = match code {
            op::BININT1 => Value::Int(self.input.byte(what)?.into()),
            op::BININT2 => Value::Int(u16::from_le_bytes(self.input.array(what)?).into()),
            op::BININT => Value::Int(i32::from_le_bytes(self.input.array(what)?).into()),
            _ => long(self.input.counted::<1>(what)?),
        };
        self.push(value)
    }

    pub(super) fn float(&mut self) -> Step {
        let value = f64::from_be_bytes(self.input.array("a number")?);
        self.push(Value::Float(value))
    }

    pub(super) fn text<const N: usize>(&mut self) -> Step {
        let bytes = self.input.counted::<N>("a text")?;
        let text = std::str::from_utf8(bytes).map_err(|_| Problem::Utf8.at(self.at))?;
        self.push(Value::Text(text))
    }

    /// Python 2 has one type for texts and bytes.
    pub(super) fn string<const N: usize>(&mut self) -> Step {
        let bytes = self.input.counted::<N>("a text")?;
        self.push(match std::str::from_utf8(bytes) {
            Ok(text) => Value::Text(text),
            Err(_) => Value::Bytes(bytes),
        })
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Step {
        let bytes = self.input.counted::<N>("a block of bytes")?;
        self.push(Value::Bytes(bytes))
    }
}

/// A little-endian two's-complement integer of any length.
fn long<'a>(bytes: &[u8]) -> Value<'a> {
    if bytes.len() > 8 {
        return Value::Huge;
    }
    let negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut wide = [if negative { 0xff } else { 0 }; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    Value::Int(i64::from_le_bytes(wide))
}
