//! Student's t distribution.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The 97.5th percentile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Maximum number of degrees of freedom for which [`t95`] uses bisection; above it, an expansion is precise enough.
const SUMMED: usize = 200;

/// The 97.5th percentile of Student's t distribution: |t| is smaller than this value with a
/// probability of 95 %. Infinite for 0 degrees of freedom.
///
/// For up to 200 degrees of freedom, bisection inverts the distribution function, which is a finite sum (Abramowitz and
/// Stegun, 26.7.3 and 26.7.4). For more degrees of freedom, the result is an expansion about the normal distribution in
/// powers of the inverse degrees of freedom (26.7.5). The error of the expansion is less than 10⁻⁹.
pub fn t95(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        1..=SUMMED => solved(freedom),
        _ => expanded(freedom as f64),
    }
}

/// Finds t by bisecting the angle θ = atan(t ÷ √ν), where ν is the number of degrees of freedom, until the angle's
/// bounds are adjacent floating-point numbers.
fn solved(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return (freedom as f64).sqrt() * low.tan();
        }
        if within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability that |t| is less than √ν · tan(θ).
fn within(angle: f64, freedom: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // In the first term, the exponent of the cosine is 1 if ν is odd, and 0 if ν is even. It increases by 2 from term
    // to term.
    let first = usize::from(is_odd);
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    for power in (first..freedom.saturating_sub(1)).step_by(2) {
        sum += term;
        let power = power as f64;
        term *= cosine * cosine * (power + 1.0) / (power + 2.0);
    }
    if is_odd {
        FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

/// The expansion up to the fourth power of 1 ÷ ν.
fn expanded(freedom: f64) -> f64 {
    let polynomials: [&[f64]; 4] = [
        &[1.0 / 4.0, 1.0 / 4.0],
        &[3.0 / 96.0, 16.0 / 96.0, 5.0 / 96.0],
        &[-15.0 / 384.0, 17.0 / 384.0, 19.0 / 384.0, 3.0 / 384.0],
        &[
            -945.0 / 92_160.0,
            -1920.0 / 92_160.0,
            1482.0 / 92_160.0,
            776.0 / 92_160.0,
            79.0 / 92_160.0,
        ],
    ];
    let of = |coefficients: &&[f64]| {
        let sum = coefficients.iter().rev();
        Z * sum.fold(0.0, |sum, coefficient| sum * Z * Z + coefficient)
    };
    let terms = polynomials.iter().map(of);
    let sum = terms.rev().fold(0.0, |sum, term| (sum + term) / freedom);
    Z + sum
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are from published tables of the distribution.
    #[test]
    fn percentiles_are_those_of_tables() {
        let table = [
            (1, 12.706_204_736),
            (2, 4.302_652_730),
            (3, 3.182_446_305),
            (4, 2.776_445_105),
            (5, 2.570_581_836),
            (10, 2.228_138_852),
            (20, 2.085_963_447),
            (30, 2.042_272_456),
            (60, 2.000_297_822),
            (120, 1.979_930_405),
            (1_000, 1.962_339_081),
        ];
        for (freedom, expected) in table {
            let found = t95(freedom);
            assert!((found - expected).abs() < 2e-9, "{freedom}: {found}");
        }
        assert_eq!(t95(0), f64::INFINITY);
        assert!((t95(1_000_000_000) - Z).abs() < 1e-8);
    }

    #[test]
    fn the_sum_and_the_expansion_agree() {
        let (solved, expanded) = (solved(SUMMED), expanded(SUMMED as f64));
        assert!((solved - expanded).abs() < 1e-9, "{solved} {expanded}");
        for freedom in 1..400 {
            assert!(t95(freedom + 1) < t95(freedom), "{freedom}");
        }
    }
}
