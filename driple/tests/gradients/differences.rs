//! Derivatives against differences of the function.
//!
//! A network with rectifiers is smooth but for its switches: points where the slope jumps. A step
//! to one side may cross a switch that a step to the other side does not, and then neither their
//! mean nor a quotient over both sides is the derivative. So the slopes of both sides are taken
//! apart, by steps that become shorter until no switch is left between them.

/// The lengths of steps that are tried. A switch closer than the shortest is not told from one at
/// the point itself.
const STEPS: [f64; 6] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// By how much slopes may differ, as a share of the slope and at least of [`SMALLEST`].
const TOLERANCE: f64 = 1e-5;

/// Slopes below this are compared as if they were of this size.
const SMALLEST: f64 = 1e-2;

/// The rounding of the function's values, as a share of them and at least of 1. Divided by the step
/// it is that of a slope.
const ROUNDING: f64 = 1e-14;

/// How a derivative stands to differences of the function.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The slopes of both sides equal it.
    Equal {
        /// The length of the longest step at which they do.
        step: f64,
    },
    /// At some step the slopes of both sides equal each other, and at none do they equal it too.
    Different {
        /// The derivative.
        found: f64,
        /// The length of the shortest step at which the slopes are equal.
        step: f64,
        /// The slope to the left.
        left: f64,
        /// The slope to the right.
        right: f64,
    },
    /// At no step are the slopes of both sides equal: the function has a switch too close.
    NotSmooth,
}

/// Compares `found` with the derivative at 0 of a function.
pub fn compare(found: f64, function: impl Fn(f64) -> f64) -> Verdict {
    let origin = function(0.0);
    // Of second order: a bend of the function does not make the sides differ.
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

    /// A smooth function of slope 2 at 0 with a switch at `at`, where the slope jumps by `jump`.
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
                // To the left of 0 the whole slope has the jump.
                let left = switched(-at, jump);
                assert!(is_equal(2.0 + jump, left), "{at} {jump}");
            }
        }
    }

    #[test]
    fn a_wrong_derivative_is_different_with_and_without_a_switch() {
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
