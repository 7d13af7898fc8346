//! The rule for comparing one of our values with a published value.

use gleaner_domain::results::reproduce::{Rounding, Verdict};

/// A published value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Given {
    /// The value.
    pub value: f64,
    /// Number of decimals of the value.
    pub decimals: u32,
    /// The rounding of the value to these decimals.
    pub rounding: Rounding,
    /// The denominator of relative differences: the magnitude of the published value, or the range of the curve that
    /// contains it.
    pub scale: f64,
}

/// Upper bounds on the relative difference, each with the verdict for differences up to this bound.
const NEAR: [(f64, Verdict); 3] = [
    (0.01, Verdict::Within1),
    (0.05, Verdict::Within5),
    (0.10, Verdict::Within10),
];

/// The difference between `ours` and the published value as a share of the value's scale, and the verdict. The verdict
/// is [`Verdict::Equal`] if our value, rounded like the published value, equals the published value.
pub fn compare(given: &Given, ours: f64) -> (f64, Verdict) {
    let unit = 10f64.powi(-(given.decimals as i32));
    let cut = given.rounding.cut(ours, given.decimals);
    let off = ours - given.value;
    let share = match off {
        0.0 => 0.0,
        off => off / given.scale,
    };
    if (cut - given.value).abs() < unit / 2.0 {
        return (share, Verdict::Equal);
    }
    let near = NEAR.iter().find(|(most, _)| share.abs() <= *most);
    (
        share,
        near.map_or(Verdict::Differs, |(_, verdict)| *verdict),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn given(value: f64, decimals: u32, rounding: Rounding) -> Given {
        Given {
            value,
            decimals,
            rounding,
            scale: value.abs(),
        }
    }

    fn verdict(value: f64, decimals: u32, rounding: Rounding, ours: f64) -> Verdict {
        compare(&given(value, decimals, rounding), ours).1
    }

    #[test]
    fn equal_is_to_the_published_decimals() {
        use Rounding::{Down, Nearest};
        assert_eq!(verdict(65720.0, 0, Down, 65720.94), Verdict::Equal);
        assert_eq!(verdict(65720.0, 0, Nearest, 65720.94), Verdict::Within1);
        assert_eq!(verdict(4.12, 2, Nearest, 4.1249), Verdict::Equal);
        assert_eq!(verdict(4.12, 2, Nearest, 4.1251), Verdict::Within1);
        assert_eq!(verdict(4.12, 2, Nearest, 4.11), Verdict::Within1);
        assert_eq!(verdict(0.1, 1, Nearest, 0.1), Verdict::Equal);
        assert_eq!(verdict(-1.5, 1, Nearest, -1.54), Verdict::Equal);
        // A value with all digits of a double. Multiplied by 10¹⁶, it exceeds 2⁵³, and some integers above 2⁵³ cannot
        // be represented as doubles.
        let exact = 0.9019098676495225;
        assert_eq!(verdict(exact, 16, Nearest, exact), Verdict::Equal);
    }

    #[test]
    fn bounds_of_the_verdicts() {
        let of = |ours| verdict(1000.0, 0, Rounding::Nearest, ours);
        let expected = [
            (1010.0, Verdict::Within1),
            (989.0, Verdict::Within5),
            (1050.0, Verdict::Within5),
            (1051.0, Verdict::Within10),
            (900.0, Verdict::Within10),
            (899.0, Verdict::Differs),
            (f64::NAN, Verdict::Differs),
        ];
        for (ours, verdict) in expected {
            assert_eq!(of(ours), verdict, "{ours}");
        }
    }

    #[test]
    fn a_published_zero_is_met_or_missed() {
        assert_eq!(verdict(0.0, 0, Rounding::Nearest, 0.4), Verdict::Equal);
        assert_eq!(verdict(0.0, 0, Rounding::Nearest, 1.0), Verdict::Differs);
        assert_eq!(
            compare(&given(0.0, 0, Rounding::Nearest), 0.0),
            (0.0, Verdict::Equal)
        );
    }

    #[test]
    fn curves_are_measured_against_their_range() {
        let point = Given {
            scale: 2.0,
            ..given(0.01, 2, Rounding::Nearest)
        };
        assert_eq!(compare(&point, 0.03).1, Verdict::Within1);
        assert_eq!(compare(&point, 0.11).1, Verdict::Within5);
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        // The verdict for a value and its own rounding is always "equal", and a larger difference never leads to a
        // closer verdict.
        #[test]
        fn what_is_cut_from_a_value_is_equal(ours in -1e6f64..1e6, decimals in 0u32..5) {
            for rounding in [Rounding::Nearest, Rounding::Down] {
                let value = rounding.cut(ours, decimals);
                prop_assert_eq!(verdict(value, decimals, rounding, ours), Verdict::Equal);
            }
        }

        #[test]
        fn further_off_is_never_nearer(value in 1f64..1e6, near in 0f64..0.2, more in 0f64..0.2) {
            let value = value.round();
            let of = |share: f64| verdict(value, 0, Rounding::Nearest, value * (1.0 + share));
            prop_assert!(of(near) <= of(near + more));
        }
    }
}
