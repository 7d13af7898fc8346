//! Buffers that are reused from pass to pass, because allocating memory takes longer than computing
//! the values to store in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;

use ndarray::Array2;

use super::Real;

/// Unused buffers, by length.
#[derive(Debug, Default)]
pub struct Buffers<T> {
    free: RefCell<BTreeMap<usize, Vec<Vec<T>>>>,
}

impl<T: Real> Buffers<T> {
    /// A matrix with arbitrary values, which may be left over from earlier use.
    pub(super) fn any(&self, rows: usize, columns: usize) -> Array2<T> {
        let len = rows * columns;
        let buffer = self.free.borrow_mut().get_mut(&len).and_then(Vec::pop);
        let buffer = buffer.unwrap_or_else(|| vec![T::zero(); len]);
        Array2::from_shape_vec((rows, columns), buffer).unwrap_or_default()
    }

    /// A matrix of zeros.
    pub(super) fn zeros(&self, rows: usize, columns: usize) -> Array2<T> {
        let mut matrix = self.any(rows, columns);
        matrix.fill(T::zero());
        matrix
    }

    /// Takes back the buffer of a matrix for reuse.
    pub(super) fn take_back(&self, matrix: Array2<T>) {
        let (buffer, _) = matrix.into_raw_vec_and_offset();
        let mut free = self.free.borrow_mut();
        free.entry(buffer.len()).or_default().push(buffer);
    }
}

/// A store of buffers, from which each thread borrows its own.
#[derive(Debug, Default)]
pub struct SpareBuffers<T> {
    idle: Mutex<Vec<Buffers<T>>>,
}

impl<T: Real> SpareBuffers<T> {
    /// Takes buffers from the store. If the store is empty, the thread gets new buffers.
    #[must_use]
    pub fn borrow(&self) -> Buffers<T> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_default()
    }

    /// Returns buffers to the store.
    pub fn give_back(&self, buffers: Buffers<T>) {
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(buffers);
        }
    }
}
