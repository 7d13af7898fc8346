//! Tests of solvers whose libraries this build leaves out.

#![cfg(not(all(feature = "highs", feature = "cbc")))]

use gleaner_solvers::backends::build;
use gleaner_solvers::{SolverKind, SolverSpec};

#[test]
fn solvers_that_are_left_out_are_refused_by_name() {
    let left_out = [
        (SolverKind::Highs, "highs", cfg!(feature = "highs")),
        (SolverKind::Cbc, "cbc", cfg!(feature = "cbc")),
    ];
    for (kind, name, is_built) in left_out {
        let built = build(SolverSpec::new(kind));
        match built.err().map(|error| error.to_string()) {
            None => assert!(is_built, "{name}"),
            Some(message) => {
                assert!(!is_built, "{name}");
                let wanted = format!("this build has no {name}: rebuild with the feature {name}");
                assert!(message.contains(&wanted), "{message}");
            }
        }
    }
}
