//! Compares derivatives with finite differences of the function.
//!
//! A network with rectifiers is smooth, except at kinks: points where a rectifier switches and the
//! slope jumps. A step to one side may cross a kink that a step to the other side does not cross.
//! In that case, neither the mean of the two slopes nor a quotient over both sides is the
//! derivative. The slope on each side is therefore computed separately. The steps are shortened
//! until no kink lies within a step of the point.

/// The step lengths to try, longest first. A kink closer than the shortest step cannot be
/// distinguished from a kink at the point itself.
const STEPS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// The maximum difference between two slopes that count as equal, as a share of the slope. Slopes
/// below [`SMALLEST`] count as [`SMALLEST`].
const TOLERANCE: f64 = 1e-5;

/// Slopes below this value are compared as if they were equal to it.
const SMALLEST: f64 = 1e-2;

/// The rounding error of the function's values, as a share of the value. Values below 1 count as 1.
/// Dividing this error by the step gives the rounding error of a slope.
const ROUNDING: f64 = 1e-14;

/// The result of comparing a derivative with finite differences of the function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The slopes on both sides equal the derivative.
    Equal {
        /// The longest step at which the slopes equal the derivative.
        step: f64,
    },
    /// At some step the slopes on both sides equal each other, but at no step do they also equal
    /// the derivative.
    Different {
        /// The derivative.
        found: f64,
        /// The shortest step at which the slopes are equal.
        step: f64,
        /// The slope on the left.
        left: f64,
        /// The slope on the right.
        right: f64,
    },
    /// The slopes on both sides differ at all steps, because the function has a kink too close to
    /// the point.
    NotSmooth,
}

/// Compares `found`, the computed derivative of a function at 0, with finite differences.
pub fn compare(found: f64, function: impl Fn(f64) -> f64) -> Verdict {
    let origin = function(0.0);
    // The formula is of second order, so a curved function has almost the same slope on both sides.
    let slope = |step: f64| (4.0 * function(step / 2.0) - function(step) - 3.0 * origin) / step;
    let mut verdict = Verdict::NotSmooth;
    for step in STEPS {
        let rounding = ROUNDING * origin.abs().max(1.0) / step;
        let are_equal = |a: f64, b: f64| {
            let size = a.abs().max(b.abs()).max(SMALLEST);
            (a - b).abs() <= TOLERANCE * size + rounding
        };
        let (left, right) = (slope(-step), slope(step));
        if are_equal(left, right) {
            if are_equal(left, found) && are_equal(right, found) {
                return Verdict::Equal { step };
            }
            verdict = Verdict::Different {
                found,
                step,
                left,
                right,
            };
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smooth function with slope 2 at 0 and a kink at `at`, where the slope increases by
    /// `jump`.
    fn switched(at: f64, jump: f64) -> impl Fn(f64) -> f64 {
        move |x: f64| (2.0 * x).sin() + jump * (x - at).max(0.0) + 3.0
    }

    fn is_equal(found: f64, function: impl Fn(f64) -> f64) -> bool {
        matches!(compare(found, function), Verdict::Equal { .. })
    }

    #[test]
    fn a_switch_close_to_one_side_does_not_hide_the_derivative() {
        for at in [9e-4, 9e-5, 9e-6, 9e-7, 9e-8, 2e-8] {
            for jump in [-0.5, -1e-3, 0.1, 10.0] {
                let right = switched(at, jump);
                assert!(is_equal(2.0, right), "{at} {jump}");
                // With the kink to the left of 0, the slope at 0 includes the jump.
                let left = switched(-at, jump);
                assert!(is_equal(2.0 + jump, left), "{at} {jump}");
            }
        }
    }

    #[test]
    fn a_wrong_derivative_is_detected_with_and_without_a_switch() {
        for function in [
            switched(1.0, 0.0),
            switched(9e-6, 0.5),
            switched(-9e-6, 0.5),
        ] {
            for wrong in [0.0, -2.0, 1.999, 2.001, 2.25, 2.499] {
                let verdict = compare(wrong, &function);
                assert!(
                    matches!(verdict, Verdict::Different { .. }),
                    "{wrong}: {verdict:?}"
                );
            }
        }
        assert!(matches!(
            compare(f64::NAN, switched(1.0, 0.0)),
            Verdict::Different { .. }
        ));
    }

    #[test]
    fn a_switch_at_the_point_itself_is_not_smooth() {
        for found in [2.0, 2.25, 2.5] {
            assert_eq!(compare(found, switched(0.0, 0.5)), Verdict::NotSmooth);
        }
    }
}
