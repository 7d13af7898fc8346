//! Tests problems with numbers at the edges of the accepted ranges: they are solved if all numbers are in range, and
//! rejected otherwise.

use crate::common::best_of_all;
use crate::common::extreme::{problem, spread, turnover};
use gleaner_solvers::backends::{EqualShare, Exact};
use gleaner_solvers::{
    BigM, Goal, Limits, Problem, SolveError, Solver, Status, Task, check, synthetic,
};
use proptest::prelude::*;

proptest! {
    #![proptest_config(gleaner_testing::cases(4_000))]

    #[test]
    fn problems_in_range_are_solved_to_the_optimum(problem in problem()) {
        prop_assert_eq!(problem.validate(), Vec::<String>::new());
        let answer = Exact::new(BigM::Corrected).solve(&problem, &Limits::default()).unwrap();
        prop_assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        let counts = answer.counts.as_ref().unwrap();
        let (best, plan) = best_of_all(&problem, BigM::Corrected).unwrap();
        let found = problem.merit(counts);
        prop_assert_eq!((found.running, found.least_share), (best.running, best.least_share));
        let slack = 1e-6 * (turnover(&problem, counts) + turnover(&problem, &plan));
        prop_assert!(found.total <= best.total + slack);
        prop_assert!(answer.bound.unwrap() >= best.total - slack);
        // A plan is not reported as optimal if the numbers are too far apart for a proof.
        if answer.status == Status::Optimal {
            prop_assert!(found.total >= best.total - slack, "{:?}, best {:?} {:?}", found, best, plan);
        }
        prop_assert!(answer.status == Status::Optimal || spread(&problem) > 100.0);
        prop_assert!(answer.gap().unwrap().is_finite());

        let heuristic = EqualShare.solve(&problem, &Limits::default()).unwrap();
        prop_assert_eq!(check(&problem, &heuristic, BigM::Corrected), Ok(()));
    }
}

/// Five problems, in each of which a different number is set to `value`.
fn with_each_number(value: f64) -> Vec<Problem> {
    let set: [fn(&mut Problem, f64); 5] = [
        |p, value| p.t_fwd = value,
        |p, value| p.tasks[1].rescale_up = value,
        |p, value| p.tasks[1].rescale_down = value,
        |p, value| p.tasks[1].curve_objective = vec![0.0, value].into(),
        |p, value| p.tasks[1].weight = value,
    ];
    let with = |set: &fn(&mut Problem, f64)| {
        let mut problem = synthetic::problem(3, 20, 5);
        problem.tasks[1].curve_nodes = vec![0, 64].into();
        problem.tasks[1].curve_objective = vec![0.0, 64.0].into();
        set(&mut problem, value);
        problem
    };
    set.iter().map(with).collect()
}

#[test]
fn problems_out_of_range_are_refused_by_every_solver() {
    for value in [
        f64::NAN,
        f64::INFINITY,
        f64::MAX,
        1e101,
        -1.0,
        1e-104,
        5e-324,
    ] {
        for mut problem in with_each_number(value) {
            let costs = [problem.tasks[1].rescale_up, problem.tasks[1].rescale_down];
            if costs.contains(&value) && (0.0..1.0).contains(&value) {
                assert_eq!(
                    problem.validate(),
                    Vec::<String>::new(),
                    "costs may be small"
                );
                continue;
            }
            for goal in [Goal::Total, Goal::MaxMin] {
                problem.goal = goal;
                assert_eq!(problem.validate().len(), 1, "{value}: {problem:?}");
                let exact = Exact::new(BigM::Corrected).solve(&problem, &Limits::default());
                let share = EqualShare.solve(&problem, &Limits::default());
                for refused in [exact, share] {
                    assert!(
                        matches!(refused, Err(SolveError::Invalid(_))),
                        "{refused:?}"
                    );
                }
            }
        }
    }
}

// Derived by formula: the limit is 1e6 windows of 100 s at the best rate of 64, and the current
// rate is 32.
#[test]
fn a_change_that_costs_more_than_a_million_windows_is_refused() {
    let with_cost = |cost| {
        let mut problem = synthetic::problem(1, 64, 1);
        problem.t_fwd = 100.0;
        problem.tasks[0] = Task {
            min_nodes: 1,
            max_nodes: 64,
            current: 32,
            rescale_down: cost,
            curve_nodes: vec![0, 64].into(),
            curve_objective: vec![0.0, 64.0].into(),
            ..problem.tasks[0].clone()
        };
        problem.validate()
    };
    assert_eq!(with_cost(2e8), Vec::<String>::new());
    let faults = with_cost(2.001e8);
    assert!(
        faults[0].contains("rescale_down of 2.001e8 s"),
        "{faults:?}"
    );
}
