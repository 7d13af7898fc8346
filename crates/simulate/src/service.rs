//! Computes the remaining work of a job. The result is bit-for-bit identical to that of a second-by-second subtraction.
//!
//! The original simulator subtracts a job's speed from its remaining work every second, in floats. Whether the job ends
//! in this second or the next depends on the rounding of all these subtractions. While the result stays between two
//! successive powers of two, every subtraction lowers it by the same amount. [`stride`] computes all these subtractions
//! at once: for 1000 s of work at speed 0.9, the 540 or so results above 512 take one step.

/// Mask of the bits of a float below its exponent.
const MANTISSA: u64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;

/// Returns what remains of `left` after `speed` is subtracted `steps` times, one by one.
pub fn left_after(mut left: f64, speed: f64, mut steps: i64) -> f64 {
    if speed == 1.0 {
        // This is exact, because no difference needs more binary digits than `left` has.
        return left - steps as f64;
    }
    while steps > 0 {
        let (next, taken) = stride(left, speed, steps);
        (left, steps) = (next, steps - taken);
    }
    left
}

/// Returns the number of times that `speed` must be subtracted from `left` until the result is at most 0, and that
/// result. If the speed is so small that the subtraction does not change `left`, the number is `i64::MAX`.
pub fn steps_to_end(mut left: f64, speed: f64) -> (i64, f64) {
    if speed == 1.0 {
        let steps = left.ceil().max(0.0);
        return (steps as i64, left.min(left - steps));
    }
    let mut steps = 0i64;
    while left > 0.0 {
        let (next, taken) = stride(left, speed, i64::MAX);
        (left, steps) = (next, steps.saturating_add(taken));
        if steps == i64::MAX {
            break;
        }
    }
    (steps, left)
}

/// Subtracts `speed` from `left` at least once and at most `most` times. Stops at or before the first result that is at
/// most 0. Returns the result and the number of subtractions.
fn stride(left: f64, speed: f64, most: i64) -> (f64, i64) {
    let first = left - speed;
    let second = first - speed;
    if most < 3 || second <= 0.0 || exponent(left) != exponent(second) {
        return (first, 1);
    }
    // Floats with the same exponent are evenly spaced, and their bits count the spacings. Every step lowers the result
    // by the same number of spacings as the step from `first` to `second`. This also holds if the exact difference is
    // halfway between two floats. It is then rounded to an even number of spacings: `first` is even, and so is the
    // result of every later step.
    let spacings = first.to_bits() - second.to_bits();
    if spacings == 0 {
        return (left, most);
    }
    // Floats below this exponent are closer together, so a difference there may be rounded up to the
    // lowest float with this exponent. The step to that float is therefore left to the next stride.
    let above_bottom = (second.to_bits() & MANTISSA).saturating_sub(1);
    let more = (above_bottom / spacings).min(most as u64 - 2);
    let left = f64::from_bits(second.to_bits() - more * spacings);
    (left, 2 + more as i64)
}

fn exponent(value: f64) -> u64 {
    value.to_bits() & !MANTISSA
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Subtracts in a loop like the original simulator. Returns the number of steps until the result is at most 0,
    /// and that result.
    fn one_by_one(mut left: f64, speed: f64, most: i64) -> (i64, f64) {
        let mut steps = 0;
        while left > 0.0 && steps < most {
            left -= speed;
            steps += 1;
        }
        (steps, left)
    }

    fn speeds() -> impl Strategy<Value = f64> {
        prop_oneof![
            0.4..1.6,
            (400u32..1600).prop_map(|thousandths| f64::from(thousandths) / 1000.0),
            (1u32..64).prop_map(|of_32| f64::from(of_32) / 32.0),
            // Odd multiples of 2^-52, half the distance between neighbouring floats from 2 to 4. Take a float in this
            // range and subtract such a speed. If the result is still in the range, it lies exactly halfway between
            // two floats, and must be rounded.
            (1u64..1 << 20).prop_map(|odd| f64::from_bits(1f64.to_bits() + 2 * odd + 1)),
        ]
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(2000))]

        #[test]
        fn strides_equal_single_steps(
            whole in 0i64..40_000,
            fraction in prop_oneof![Just(0.0), 0.0..1.0],
            speed in speeds(),
            part in 0.0..1.0,
        ) {
            let left = whole as f64 + fraction;
            let (steps, rest) = one_by_one(left, speed, i64::MAX);
            prop_assert_eq!(steps_to_end(left, speed), (steps, rest));
            let some = (steps as f64 * part) as i64;
            prop_assert_eq!(left_after(left, speed, some), one_by_one(left, speed, some).1);
        }
    }

    // Derived by formula: a speed below half the spacing of floats at 2^40 changes nothing.
    #[test]
    fn a_job_with_a_negligible_speed_never_ends() {
        assert_eq!(steps_to_end(2f64.powi(40), 1e-6).0, i64::MAX);
    }
}
