//! Tests the plans that solvers report while they solve.

use crate::common::problem;
use gleaner_solvers::{
    Allocation, BigM, Incumbent, Limits, Problem, SolverKind, SolverSpec, check, synthetic,
};
use proptest::prelude::*;

fn observed(kind: SolverKind, problem: &Problem) -> (Vec<Incumbent>, Allocation) {
    let mut seen = Vec::new();
    let mut solver = SolverSpec::new(kind).build().unwrap();
    let answer = solver.solve_observed(problem, &Limits::default(), &mut |found| seen.push(found));
    (seen, answer.unwrap())
}

#[test]
fn the_exact_solver_tells_the_relaxations_plan_before_its_search() {
    let told = |seed| {
        observed(SolverKind::Exact, &synthetic::problem(6, 30, seed))
            .0
            .len()
    };
    let counts: Vec<usize> = (0..40).map(told).collect();
    assert!(counts.iter().all(|count| [1, 2].contains(count)));
    // Some relaxations are proven optimal at once, and some are not.
    assert!(counts.contains(&1) && counts.contains(&2), "{counts:?}");
}

#[test]
fn a_solver_that_tells_nothing_on_the_way_has_its_answer() {
    let (seen, answer) = observed(SolverKind::EqualShare, &synthetic::problem(6, 30, 1));
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].plan, answer);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(500))]

    #[test]
    fn plans_are_valid_get_no_worse_and_end_with_the_answer(problem in problem()) {
        let exact = SolverSpec::new(SolverKind::Exact).build();
        let plain = exact.unwrap().solve(&problem, &Limits::default()).unwrap();
        for kind in [SolverKind::Exact, SolverKind::Auto] {
            let (seen, answer) = observed(kind, &problem);
            prop_assert_eq!(&answer, &plain);
            prop_assert_eq!(seen.last().map(|last| last.plan.counts.clone()), Some(answer.counts));
            for found in &seen {
                prop_assert_eq!(check(&problem, &found.plan, BigM::Corrected), Ok(()));
            }
            for pair in seen.windows(2) {
                prop_assert!(pair[0].after <= pair[1].after);
                prop_assert!(pair[0].plan.objective <= pair[1].plan.objective);
            }
        }
    }
}
