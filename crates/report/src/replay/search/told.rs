//! Formats losses and resources as text for pages.

use crate::numbers::{grouped, number};
pub(super) use gleaner_runs::summary::loss;

/// The resource of a rung, without decimals if it is whole.
pub(super) fn resource(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        grouped(&format!("{value:.0}"))
    } else {
        number(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples of losses and resources.
    #[test]
    fn losses_have_four_digits_and_resources_as_few_as_possible() {
        for (value, text) in [
            (0.0, "0"),
            (0.214_26, "0.2143"),
            (1.0, "1.000"),
            (-2.345_6, "-2.346"),
            (1_234.5, "1234"),
            (1e-5, "1.000e-5"),
            (f64::NAN, "none"),
        ] {
            assert_eq!(loss(value), text);
        }
        assert_eq!(resource(27.0), "27");
        assert_eq!(resource(1e4), "10,000");
        assert_eq!(resource(4.0 / 3.0), "1.33");
    }
}
