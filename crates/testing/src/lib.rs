//! Helpers that the tests of all crates share: settings of property tests, paths of files, checks of pages in a
//! browser, and observers that stop runs. Other helpers read the examples and tables of the documentation, read the
//! records of sweeps, and find a Python interpreter with PyTorch.
//!
//! Every block of property tests states its number of cases. A block whose cases are slow also states the time for
//! one case (see [`slow_cases`]). No other settings are needed:
//!
//! ```
//! use proptest::prelude::*;
//!
//! proptest! {
//!     #![proptest_config(gleaner_testing::cases(256))]
//!
//!     // In a test, `#[test]` comes before the function.
//!     fn sums_do_not_depend_on_the_order(a: i32, b: i32) {
//!         prop_assert_eq!(a.wrapping_add(b), b.wrapping_add(a));
//!     }
//! }
//!
//! sums_do_not_depend_on_the_order();
//! ```
//!
//! By default, all tests draw their cases with one fixed seed, so the same code always produces the same
//! result. `make soak` sets another seed and more cases through the environment. A case
//! that fails is saved in the folder `proptest-regressions/` of the workspace, and later runs begin
//! with it.

mod browser;
mod documented;
mod examples;
mod places;
mod python;
mod records;
mod saved;
mod stop_after;
mod stop_at_check;

use std::env;
use std::str::FromStr;

use proptest::test_runner::{Config, RngSeed};

pub use browser::check_in_browser;
pub use documented::check_tables;
pub use examples::{Example, examples};
pub use places::{shared, workspace};
pub use python::python_with_torch;
pub use records::{records, results, segments};
pub use saved::SavedCases;
pub use stop_after::StopAfter;
pub use stop_at_check::StopAtCheck;

/// Environment variable with the factor by which the number of cases of each test is multiplied: a whole
/// number of at least 1.
pub const FACTOR: &str = "SOAK_FACTOR";

/// Maximum time of a slow property, in milliseconds, when [`FACTOR`] multiplies its number of cases.
pub const LONGEST: u32 = 60_000;

/// The seed of all tests if the environment sets none.
pub const SEED: u64 = 1;

/// Returns the settings of a property test with `count` cases, times the factor in [`FACTOR`] if it
/// is set. The seed is the value of proptest's own variable `PROPTEST_RNG_SEED`, or [`SEED`] if this
/// variable is not set.
///
/// # Panics
/// If [`FACTOR`] is set to anything but a whole number of at least 1.
#[must_use]
pub fn cases(count: u32) -> Config {
    settings(count, factor(env::var(FACTOR).ok().as_deref()))
}

/// Like [`cases`], for a property whose cases take about `milliseconds` each, such as a property that calls a solver's
/// library, writes files or trains a model. The factor is reduced, but not below 1, so that the property takes at most
/// [`LONGEST`]. The time of a case is an estimate in the source and is never measured, so the number of cases
/// is the same on every machine. A property needs this function if its cases together take more than 1.5 s: with
/// [`cases`], it would exceed [`LONGEST`] at a factor of 40.
///
/// # Panics
/// The same as for [`cases`].
#[must_use]
pub fn slow_cases(count: u32, milliseconds: u32) -> Config {
    let factor = factor(env::var(FACTOR).ok().as_deref());
    settings(count, factor.min(affordable(count, milliseconds)))
}

/// The largest factor, at least 1, with which `count` cases of `milliseconds` each take at most [`LONGEST`].
fn affordable(count: u32, milliseconds: u32) -> u32 {
    let once = count.saturating_mul(milliseconds).max(1);
    (LONGEST / once).max(1)
}

/// The settings of a property test with `factor` times `count` cases.
fn settings(count: u32, factor: u32) -> Config {
    let base = Config::default();
    Config {
        cases: count.saturating_mul(factor),
        max_local_rejects: base.max_local_rejects.saturating_mul(factor),
        max_global_rejects: base.max_global_rejects.saturating_mul(factor),
        rng_seed: match base.rng_seed {
            RngSeed::Random => RngSeed::Fixed(SEED),
            fixed @ RngSeed::Fixed(_) => fixed,
        },
        failure_persistence: Some(Box::new(SavedCases::in_workspace())),
        ..base
    }
}

/// The factor that the environment variable [`FACTOR`] sets; 1 if the variable is not set.
fn factor(asked: Option<&str>) -> u32 {
    let Some(asked) = asked else {
        return 1;
    };
    let number = u32::from_str(asked).ok().filter(|&number| number > 0);
    assert!(
        number.is_some(),
        "{FACTOR}={asked:?}: expected a whole number of at least 1"
    );
    number.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // The expected factors follow from `LONGEST`, which is 60 s.
    #[test]
    fn slow_properties_take_a_minute_at_most() {
        assert_eq!(affordable(100, 10), 60);
        assert_eq!(affordable(32, 300), 6);
        assert_eq!(affordable(32, 0), LONGEST);
        for longer_than_a_minute in [(1000, 61), (u32::MAX, u32::MAX)] {
            let (count, milliseconds) = longer_than_a_minute;
            assert_eq!(affordable(count, milliseconds), 1);
        }
    }

    #[test]
    fn the_factor_is_a_number_of_at_least_one() {
        assert_eq!(factor(None), 1);
        assert_eq!(factor(Some("20")), 20);
        for wrong in ["0", "-1", "1.5", "many", ""] {
            assert!(std::panic::catch_unwind(|| factor(Some(wrong))).is_err());
        }
    }
}
