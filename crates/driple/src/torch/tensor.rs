//! Tensors with their values.

use super::globals::Kind;
use super::objects::View;
use super::{Saved, TorchError};

/// A tensor from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The size of each dimension; empty for a scalar.
    pub shape: Vec<usize>,
    /// The values of the tensor. The last dimension varies fastest.
    pub values: Values,
}

/// The values of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Values that the file stores as 16-bit or 32-bit floats.
    F32(Vec<f32>),
    /// Values that the file stores as 64-bit floats.
    F64(Vec<f64>),
    /// Values that the file stores as integers or booleans.
    I64(Vec<i64>),
}

impl Tensor {
    /// The values as 32-bit floats, rounded if necessary.
    #[must_use]
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.values {
            Values::F32(values) => values.clone(),
            Values::F64(values) => values.iter().map(|&value| value as f32).collect(),
            Values::I64(values) => values.iter().map(|&value| value as f32).collect(),
        }
    }
}

impl Saved<'_> {
    /// Copies the values of a view to a tensor. `name` returns the tensor's name for error
    /// messages.
    pub(super) fn tensor(
        &self,
        view: &View,
        name: &dyn Fn() -> String,
    ) -> Result<Tensor, TorchError> {
        let fault = |fault: &str| TorchError::Tensor {
            tensor: name(),
            fault: fault.to_owned(),
        };
        let storage = view.storage;
        let len = view
            .len(storage.len)
            .ok_or_else(|| fault("it reaches beyond its storage"))?;
        self.spend(len.max(view.shape.len()))?;
        let stored = self.storages.get(storage.key);
        let (_, bytes) = stored.ok_or_else(|| fault("its storage has no values"))?;
        Ok(Tensor {
            shape: view.shape.clone(),
            values: view.values(storage.kind, bytes, len),
        })
    }
}

impl View<'_> {
    /// The number of values of the view; `None` if it reaches beyond the `stored` values.
    fn len(&self, stored: usize) -> Option<usize> {
        let mut len = 1usize;
        let mut last = self.offset;
        if self.shape.contains(&0) {
            return Some(0);
        }
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            len = len.checked_mul(size)?;
            last = last.checked_add((size - 1).checked_mul(stride)?)?;
        }
        (last < stored).then_some(len)
    }

    fn values(&self, kind: Kind, bytes: &[u8], len: usize) -> Values {
        match kind {
            Kind::F16 => {
                Values::F32(self.gather(bytes, len, |word| half(u16::from_le_bytes(word))))
            }
            Kind::Bf16 => Values::F32(self.gather(bytes, len, brain)),
            Kind::F32 => Values::F32(self.gather(bytes, len, f32::from_le_bytes)),
            Kind::F64 => Values::F64(self.gather(bytes, len, f64::from_le_bytes)),
            Kind::Bool => Values::I64(self.gather(bytes, len, |[byte]| i64::from(byte != 0))),
            Kind::U8 => Values::I64(self.gather(bytes, len, |[byte]| byte.into())),
            Kind::I8 => Values::I64(self.gather(bytes, len, |byte| i8::from_le_bytes(byte).into())),
            Kind::I16 => Values::I64(self.gather(bytes, len, |w| i16::from_le_bytes(w).into())),
            Kind::I32 => Values::I64(self.gather(bytes, len, |w| i32::from_le_bytes(w).into())),
            Kind::I64 => Values::I64(self.gather(bytes, len, i64::from_le_bytes)),
        }
    }

    /// The values of the view, `N` bytes each, in the order of its dimensions. For example, the
    /// shape `(2, 3)` and the strides `(1, 2)` select the stored values 0, 2, 4, 1, 3 and 5.
    fn gather<T, const N: usize>(
        &self,
        bytes: &[u8],
        len: usize,
        value: impl Fn([u8; N]) -> T,
    ) -> Vec<T> {
        let words = bytes.as_chunks::<N>().0;
        let mut values = Vec::with_capacity(len);
        let mut place = vec![0; self.shape.len()];
        let mut at = self.offset;
        for _ in 0..len {
            // `View::len` has checked that all values exist.
            values.extend(words.get(at).map(|&word| value(word)));
            at = self.advance(&mut place, at);
        }
        values
    }

    /// Moves the index `place` to the next value. Returns that value's position in the storage,
    /// given the current position `at`.
    fn advance(&self, place: &mut [usize], mut at: usize) -> usize {
        let dimensions = self.shape.iter().zip(&self.strides).zip(place).rev();
        for ((&size, &stride), index) in dimensions {
            *index += 1;
            if *index < size {
                return at + stride;
            }
            at -= (size - 1) * stride;
            *index = 0;
        }
        at
    }
}

/// The value of an IEEE 754 16-bit float. A 32-bit float represents it exactly.
fn half(word: u16) -> f32 {
    let sign = if word >> 15 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(word & 0x3ff);
    match (word >> 10) & 0x1f {
        0 => sign * fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        exponent => sign * (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    }
}

/// The value of a bfloat16: the upper half of a 32-bit float.
fn brain([low, high]: [u8; 2]) -> f32 {
    f32::from_le_bytes([0, 0, low, high])
}

#[cfg(test)]
mod tests {
    use super::super::objects::Storage;
    use super::*;

    // Examples of IEEE 754-2019 binary16 numbers.
    #[test]
    fn halves_are_widened_exactly() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x7bff), 65504.0);
        assert_eq!(half(0x0400), 2f32.powi(-14));
        assert_eq!(half(0x0001), 2f32.powi(-24));
        assert_eq!(half(0x3555), 0.333_251_95);
        assert_eq!(half(0xfc00), f32::NEG_INFINITY);
        assert!(half(0x7e00).is_nan() && half(0x8000).is_sign_negative());
    }

    #[test]
    fn bfloats_are_widened_exactly() {
        assert_eq!(brain([0x80, 0x3f]), 1.0);
        assert_eq!(brain([0x49, 0xc0]), -3.140_625);
    }

    fn view(offset: usize, shape: &[usize], strides: &[usize]) -> View<'static> {
        View {
            storage: Storage {
                kind: Kind::U8,
                key: "0",
                len: 12,
            },
            offset,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        }
    }

    #[test]
    fn views_beyond_their_storage_are_refused() {
        assert_eq!(view(0, &[2, 3], &[3, 1]).len(6), Some(6));
        assert_eq!(view(1, &[2, 3], &[3, 1]).len(6), None);
        assert_eq!(view(0, &[], &[]).len(0), None);
        assert_eq!(view(9, &[0, 3], &[3, 1]).len(0), Some(0));
        assert_eq!(view(0, &[usize::MAX, 3], &[0, 0]).len(1), None);
        assert_eq!(view(0, &[3], &[usize::MAX]).len(1), None);
        assert_eq!(view(usize::MAX, &[2], &[1]).len(1), None);
    }

    #[test]
    fn views_are_read_in_their_own_order() {
        let bytes: Vec<u8> = (0..12).collect();
        let read = |view: View| view.gather(&bytes, view.len(12).unwrap(), |[byte]| byte);
        assert_eq!(read(view(0, &[2, 3], &[1, 2])), [0, 2, 4, 1, 3, 5]);
        assert_eq!(read(view(5, &[2, 2], &[0, 3])), [5, 8, 5, 8]);
        assert_eq!(read(view(7, &[], &[])), [7]);
        assert_eq!(read(view(0, &[2, 1, 2], &[6, 99, 1])), [0, 1, 6, 7]);
    }
}
