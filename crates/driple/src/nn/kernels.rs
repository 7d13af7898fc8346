//! Loops over matrix rows, shared by several operations.

use ndarray::{Array2, ArrayView2};

use super::Real;

/// Runs `loops` with the widest vector instructions of this processor. The functions that `loops`
/// calls must be inlined; otherwise they are compiled without these instructions.
#[inline]
pub fn vectorised<R>(loops: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(loops)
}

/// The scalar product of `a` and `b`. It is computed as eight partial sums, which compilers can keep in one vector
/// register.
#[inline(always)]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::zero(); 8];
    let (heads, tails) = (a.chunks_exact(8), b.chunks_exact(8));
    let mut rest = T::zero();
    for (&x, &y) in heads.remainder().iter().zip(tails.remainder()) {
        rest += x * y;
    }
    for (x, y) in heads.zip(tails) {
        for lane in 0..8 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.into_iter().sum::<T>() + rest
}

/// Adds `factor` times `from` to `to`.
#[inline(always)]
pub fn axpy<T: Real>(factor: T, from: &[T], to: &mut [T]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The rows of a matrix in standard layout.
pub fn rows<T>(matrix: &Array2<T>) -> impl Iterator<Item = &[T]> {
    matrix
        .as_slice()
        .unwrap_or_default()
        .chunks_exact(matrix.ncols().max(1))
}

/// The rows of a matrix in standard layout, as mutable slices.
pub fn rows_mut<T>(matrix: &mut Array2<T>) -> impl Iterator<Item = &mut [T]> {
    let columns = matrix.ncols().max(1);
    matrix
        .as_slice_mut()
        .unwrap_or_default()
        .chunks_exact_mut(columns)
}

/// Row `index` of a matrix in standard layout.
#[inline(always)]
pub fn row<T>(matrix: &Array2<T>, index: usize) -> &[T] {
    let columns = matrix.ncols();
    &matrix.as_slice().unwrap_or_default()[index * columns..(index + 1) * columns]
}

/// Row `index` of a matrix in standard layout, as a mutable slice.
#[inline(always)]
pub fn row_mut<T>(matrix: &mut Array2<T>, index: usize) -> &mut [T] {
    let columns = matrix.ncols();
    &mut matrix.as_slice_mut().unwrap_or_default()[index * columns..(index + 1) * columns]
}

/// Adds the sum of the rows of `from` to the single row of `to`, starting at column `offset`.
pub fn add_row_sum<T: Real>(from: &ArrayView2<'_, T>, to: &mut Array2<T>, offset: usize) {
    let to = &mut row_mut(to, 0)[offset..offset + from.ncols()];
    vectorised(|| {
        for from in from.rows() {
            axpy(T::one(), from.to_slice().unwrap_or_default(), to);
        }
    });
}
