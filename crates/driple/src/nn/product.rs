//! Matrix products. Products in `f32` use the gemm crate. Products in `f64`, which are needed only for checks, use the
//! ndarray crate.

#![expect(
    unsafe_code,
    reason = "gemm takes raw pointers, which stay within the bounds of the views"
)]

use gemm_common::Parallelism;
use gemm_f32::gemm::f32::get_gemm_fn;
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::Real;

/// If `add` is true, adds the product of `a` and `b` to `to`. Otherwise, replaces `to` with the
/// product.
///
/// # Panics
/// If the shapes do not match.
pub(super) fn multiply_f32(
    a: &ArrayView2<'_, f32>,
    b: &ArrayView2<'_, f32>,
    mut to: ArrayViewMut2<'_, f32>,
    add: bool,
) {
    let ((m, k), (inner, n)) = (a.dim(), b.dim());
    assert!(
        k == inner && to.dim() == (m, n),
        "shapes of a matrix product do not match"
    );
    let is_by_rows = to.strides()[1].abs() < to.strides()[0].abs();
    // gemm is fastest when it writes by columns. If `to` is stored by rows, the transposed
    // product bᵀ aᵀ is computed instead, because its columns are the rows of `to`.
    let (a, b, mut to) = if is_by_rows {
        (b.t(), a.t(), to.view_mut().reversed_axes())
    } else {
        (a.view(), b.view(), to.view_mut())
    };
    let ((m, k), n) = (a.dim(), b.ncols());
    let (to_rows, to_columns) = (to.strides()[0], to.strides()[1]);
    // SAFETY: each pointer points to the first element of a view, and the strides and dimensions
    // are taken from the same view. `to` is borrowed for writing, so it overlaps neither `a` nor
    // `b`.
    unsafe {
        get_gemm_fn()(
            m,
            n,
            k,
            to.as_mut_ptr(),
            to_columns,
            to_rows,
            add,
            a.as_ptr(),
            a.strides()[1],
            a.strides()[0],
            b.as_ptr(),
            b.strides()[1],
            b.strides()[0],
            1.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// The product of `a` and `b`.
pub(super) fn product<T: Real>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>) -> Array2<T> {
    let mut out = Array2::zeros((a.nrows(), b.ncols()));
    T::multiply(a, b, out.view_mut(), false);
    out
}

/// Sets `to` to the product of `a` and `b`.
pub(super) fn set_product<T: Real>(
    a: &ArrayView2<'_, T>,
    b: &ArrayView2<'_, T>,
    to: ArrayViewMut2<'_, T>,
) {
    T::multiply(a, b, to, false);
}

/// Adds the product of `a` and `b` to `to`.
pub(super) fn add_product<T: Real>(
    a: &ArrayView2<'_, T>,
    b: &ArrayView2<'_, T>,
    to: ArrayViewMut2<'_, T>,
) {
    T::multiply(a, b, to, true);
}

#[cfg(test)]
mod tests {
    use ndarray::s;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // Products of transposed and sliced views must equal ndarray's own products. The values are
        // whole numbers, so the results are exact.
        #[test]
        fn products_of_views_are_those_of_ndarray(m in 1_usize..9, k in 0_usize..9, n in 1_usize..40) {
            let a = Array2::from_shape_fn((k, m + 2), |(i, j)| (i * 3 + j * 5) as f32 % 7.0 - 3.0);
            let b = Array2::from_shape_fn((n, k + 1), |(i, j)| (i * 2 + j * 11) as f32 % 5.0 - 2.0);
            let (a, b) = (a.slice(s![.., 1..m + 1]).reversed_axes(), b.slice(s![.., ..k]).reversed_axes());
            let wanted = a.dot(&b);
            prop_assert_eq!(&product(&a, &b), &wanted);
            let mut sum = Array2::from_elem((m, n), 1.0);
            add_product(&a, &b, sum.view_mut());
            prop_assert_eq!(sum, &wanted + 1.0);
            let mut by_columns = Array2::zeros((n, m)).reversed_axes();
            set_product(&a, &b, by_columns.view_mut());
            prop_assert_eq!(by_columns, wanted);
        }
    }
}
