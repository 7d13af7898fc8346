//! The number types in which networks are computed.

use std::fmt::Debug;
use std::iter::Sum;

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, LinalgScalar};
use num_traits::{Float, NumAssign};

use super::kernels::vectorised;
use super::product::multiply_f32;

/// A number type: `f32` for training and predictions, `f64` for checks.
pub trait Real:
    Float + NumAssign + LinalgScalar + Sum + Debug + Default + Send + Sync + 'static
{
    /// The number of this type that is closest to `value`.
    fn of(value: f64) -> Self;

    /// This number as an `f64`.
    fn as_f64(self) -> f64;

    /// Applies the logistic function to each value in place.
    fn sigmoid(values: &mut [Self]);

    /// Applies the hyperbolic tangent to each value in place.
    fn hyperbolic_tangent(values: &mut [Self]);

    /// If `add` is true, adds the product of the matrices `a` and `b` to `to`. Otherwise, replaces
    /// `to` with the product.
    ///
    /// # Panics
    /// If the shapes do not match.
    fn multiply(
        a: &ArrayView2<'_, Self>,
        b: &ArrayView2<'_, Self>,
        to: ArrayViewMut2<'_, Self>,
        add: bool,
    );
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn as_f64(self) -> f64 {
        self
    }

    fn sigmoid(values: &mut [Self]) {
        for value in values {
            *value = 1.0 / (1.0 + (-*value).exp());
        }
    }

    fn hyperbolic_tangent(values: &mut [Self]) {
        for value in values {
            *value = value.tanh();
        }
    }

    fn multiply(
        a: &ArrayView2<'_, f64>,
        b: &ArrayView2<'_, f64>,
        mut to: ArrayViewMut2<'_, f64>,
        add: bool,
    ) {
        let kept = if add { 1.0 } else { 0.0 };
        general_mat_mul(1.0, a, b, kept, &mut to);
    }
}

impl Real for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to the nearest f32 is intended"
    )]
    fn of(value: f64) -> Self {
        value as f32
    }

    fn as_f64(self) -> f64 {
        f64::from(self)
    }

    fn sigmoid(values: &mut [Self]) {
        vectorised(|| {
            for value in values {
                *value = 1.0 / (1.0 + exponential(-*value));
            }
        });
    }

    fn hyperbolic_tangent(values: &mut [Self]) {
        vectorised(|| {
            for value in values {
                *value = tangent(*value);
            }
        });
    }

    fn multiply(
        a: &ArrayView2<'_, f32>,
        b: &ArrayView2<'_, f32>,
        to: ArrayViewMut2<'_, f32>,
        add: bool,
    ) {
        multiply_f32(a, b, to, add);
    }
}

/// `e^x`, with an error of at most two units in the last place. The code has no branches, so that compilers can
/// vectorise loops that call it. The range reduction and the polynomial are taken from Moshier's Cephes library.
///
/// `x` is split into an integer multiple of ln 2, `whole * ln 2`, and a remainder, `rest`, so that
/// `e^x = 2^whole * e^rest`. The polynomial gives `e^rest`, and `2^whole` is a float with `whole`
/// as its exponent. For example, for `x = 1`, `whole` is 1 and `rest` is 0.307, so `e = 2 * e^0.307
/// = 2 * 1.359`.
#[inline(always)]
fn exponential(x: f32) -> f32 {
    // Just beyond these limits, the result would overflow or be subnormal, so `x` is clamped. NaN
    // is returned unchanged.
    let x = if x > 88.0 { 88.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    // Adding 1.5 * 2^23 rounds the value to a whole number. The low bits of the sum then hold this
    // number.
    const ROUND: f32 = 12_582_912.0;
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // ln 2 is the difference of the two constants below. Subtracting it in two parts keeps the
    // rounding error small.
    let rest = (x - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let mut polynomial = 1.987_569_1e-4;
    for coefficient in [
        1.398_199_9e-3,
        8.333_452e-3,
        4.166_579_6e-2,
        0.166_666_65,
        0.5,
    ] {
        polynomial = polynomial * rest + coefficient;
    }
    let mantissa = polynomial * rest * rest + rest + 1.0;
    let exponent = shifted
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127);
    mantissa * f32::from_bits(exponent << 23)
}

/// The hyperbolic tangent. Near zero, it is computed with a polynomial, because the formula with
/// exponentials loses precision there.
#[inline(always)]
fn tangent(x: f32) -> f32 {
    let square = x * x;
    let mut polynomial = -5.704_988_7e-3;
    for coefficient in [2.063_909e-2, -5.373_971_6e-2, 0.133_314_42, -0.333_332_8] {
        polynomial = polynomial * square + coefficient;
    }
    let small = polynomial * square * x + x;
    let large = 1.0 - 2.0 / (exponential(2.0 * x) + 1.0);
    if x.abs() < 0.625 { small } else { large }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> impl Iterator<Item = f32> {
        (-100_000..=100_000).map(|step| step as f32 * 1e-3)
    }

    #[test]
    fn fast_functions_agree_with_the_standard_library() {
        for x in grid() {
            let exact = f64::from(x);
            let mut pair = [x];
            f32::hyperbolic_tangent(&mut pair);
            assert!(
                (f64::from(pair[0]) - exact.tanh()).abs() <= 2.5e-7 * exact.tanh().abs(),
                "{x}"
            );
            let mut pair = [x];
            f32::sigmoid(&mut pair);
            let wanted = 1.0 / (1.0 + (-exact).exp());
            assert!(
                (f64::from(pair[0]) - wanted).abs() <= 4e-7 * wanted + 2e-38,
                "{x}"
            );
        }
    }

    #[test]
    fn nan_stays_nan_and_infinities_saturate() {
        let mut values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0];
        f32::sigmoid(&mut values);
        assert!(values[0].is_nan());
        assert!((values[1] - 1.0).abs() < 1e-6 && values[2].abs() < 1e-6 && values[3] == 0.5);
        let mut values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0];
        f32::hyperbolic_tangent(&mut values);
        assert!(values[0].is_nan());
        assert_eq!(values[1..], [1.0, -1.0, 0.0]);
    }
}
