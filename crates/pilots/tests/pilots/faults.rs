//! Tests the errors for invalid ladders and grids.

use std::time::Duration;

use gleaner_observer::Unobserved;
use gleaner_pilots::{Costs, Fault, Fragments, Grid, LONGEST, Ladder, MOST_LENGTHS, best};

const COSTS: Costs = Costs {
    startup: 20,
    delay: 10,
};

#[test]
fn ladders_are_checked() {
    let fault = |lengths: &[u64]| Ladder::new(lengths.iter().copied(), COSTS).unwrap_err();
    assert_eq!(fault(&[]), Fault::NoLength);
    assert_eq!(fault(&[60, 30, 60]), Fault::Twice(60));
    let never = Fault::NeverReady {
        length: 20,
        startup: 20,
    };
    assert_eq!(fault(&[60, 20]), never);
    assert_eq!(fault(&[60, LONGEST + 1]), Fault::TooLong(LONGEST + 1));
    assert_eq!(
        Ladder::new([LONGEST, 60], COSTS).unwrap().lengths(),
        [60, LONGEST]
    );
}

#[test]
fn grids_are_checked() {
    let fragments = Fragments::new([1000]).unwrap();
    let fault = |step, longest, count| {
        let grid = Grid { step, longest };
        best(&fragments, grid, COSTS, count, Duration::ZERO, &Unobserved).unwrap_err()
    };
    assert_eq!(fault(0, 100, 1), Fault::NoLength);
    assert_eq!(fault(5, 20, 1), Fault::NoLength);
    assert_eq!(fault(60, 59, 1), Fault::NoLength);
    assert_eq!(fault(60, LONGEST + 1, 1), Fault::TooLong(LONGEST + 1));
    let too_fine = Fault::TooFine {
        lengths: 10_001,
        units: 20_003,
    };
    assert_eq!(fault(20, 200_020, 1), too_fine);
    assert_eq!(
        fault(60, 600, MOST_LENGTHS + 1),
        Fault::TooMany(MOST_LENGTHS + 1)
    );
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    let fault = Fragments::new([u64::MAX, 1]).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "the total length of all fragments exceeds 64 bits"
    );
    // Sums of the greatest lengths do not overflow.
    let fragments = Fragments::new([u64::MAX]).unwrap();
    let grid = Grid {
        step: LONGEST,
        longest: LONGEST,
    };
    let found = best(&fragments, grid, COSTS, 2, Duration::MAX, &Unobserved);
    assert!(found.is_err_and(|fault| matches!(fault, Fault::TooFine { .. })));
}
