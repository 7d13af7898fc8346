//! How much a file may refer to.

use super::TorchError;

/// How often its own length a file may be expanded to, in tensors' elements, bytes of names and
/// objects visited. Files whose tensors share no values stay below 2.
const TIMES: usize = 4;

/// What is left of what a file may be expanded to.
pub(super) struct Budget {
    length: usize,
    left: usize,
}

impl Budget {
    /// Of a file of so many bytes.
    pub fn new(length: usize) -> Self {
        Budget {
            length,
            left: length.saturating_mul(TIMES),
        }
    }

    /// Takes an amount off.
    pub fn spend(&mut self, amount: usize) -> Result<(), TorchError> {
        let length = self.length;
        let left = self.left.checked_sub(amount);
        self.left = left.ok_or(TorchError::Large { length })?;
        Ok(())
    }
}
