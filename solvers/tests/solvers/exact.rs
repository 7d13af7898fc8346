//! Compares the exact solver with the reference optima and the plain recursion.

use crate::common::{assert_reaches, problem, reference_problems, rugged};
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    BigM, Goal, Limits, Problem, SolveError, Solver, Status, Task, check, recursion, synthetic,
};
use proptest::prelude::*;

fn solve(problem: &Problem, big_m: BigM) -> gleaner_solvers::Allocation {
    Exact::new(big_m)
        .solve(problem, &Limits::default())
        .unwrap()
}

// Golden values: the optima that the original system found for the reference problems.
#[test]
fn reaches_all_reference_optima() {
    let Some(references) = reference_problems() else {
        return;
    };
    assert_eq!(references.len(), 400);
    for r in &references {
        let free = solve(&r.problem, BigM::Corrected);
        assert_reaches(&r.problem, &free, BigM::Corrected, r.optimum);
        let capped = solve(&r.problem, BigM::Paper);
        assert_reaches(&r.problem, &capped, BigM::Paper, r.paper_optimum_dp);
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2_000))]

    #[test]
    fn equals_the_plain_recursion(problem in problem(), big_m in prop_oneof![Just(BigM::Corrected), Just(BigM::Paper)]) {
        let plain = recursion::solve(&problem, big_m);
        let exact = solve(&problem, big_m);
        prop_assert_eq!(exact.status, plain.status);
        prop_assert_eq!(check(&problem, &exact, big_m), Ok(()));
        if let (Some(a), Some(b)) = (exact.objective, plain.objective) {
            prop_assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "exact {a}, recursion {b}");
        }
    }

    #[test]
    fn a_solve_does_not_depend_on_the_one_before(first in problem(), second in problem()) {
        let mut solver = Exact::new(BigM::Corrected);
        let limits = Limits::default();
        solver.solve(&first, &limits).unwrap();
        let after = solver.solve(&second, &limits).unwrap();
        prop_assert_eq!(after, solve(&second, BigM::Corrected));
    }
}

#[test]
fn equals_the_plain_recursion_where_the_bound_is_loose() {
    for seed in 0..120 {
        let problem = rugged(3 + seed as usize % 20, 40 + 7 * seed, seed);
        let plain = recursion::solve(&problem, BigM::Corrected);
        let exact = solve(&problem, BigM::Corrected);
        assert_reaches(&problem, &exact, BigM::Corrected, plain.objective.unwrap());
    }
}

#[test]
fn equals_the_plain_recursion_on_noisy_curves_and_on_ties() {
    for seed in 0..40 {
        for make in [synthetic::noisy, synthetic::alike] {
            let problem = make(4 + seed as usize, 60 + 9 * seed as u32, seed);
            let plain = recursion::solve(&problem, BigM::Corrected);
            let exact = solve(&problem, BigM::Corrected);
            assert_reaches(&problem, &exact, BigM::Corrected, plain.objective.unwrap());
        }
    }
}

fn flat(name: &str, current: u32) -> Task {
    Task {
        name: name.into(),
        min_nodes: 1,
        max_nodes: 8,
        rescale_up: 0.0,
        rescale_down: 0.0,
        curve_nodes: vec![0, 8].into(),
        curve_objective: vec![0.0, 8.0].into(),
        weight: 1.0,
        current,
    }
}

fn of(nodes: u32, tasks: Vec<Task>) -> Problem {
    Problem {
        id: "fixed".into(),
        nodes,
        t_fwd: 10.0,
        tasks,
        groups: vec![],
        goal: Goal::Total,
    }
}

// Small fixed example: every split of 8 nodes has the same value, and changes cost nothing.
#[test]
fn equally_good_plans_keep_tasks_as_they_are() {
    let staying = of(8, vec![flat("a", 3), flat("b", 4), flat("c", 1)]);
    assert_eq!(solve(&staying, BigM::Corrected).counts.unwrap(), [3, 4, 1]);
    let grown = of(9, vec![flat("a", 3), flat("b", 4), flat("c", 1)]);
    let counts = solve(&grown, BigM::Corrected).counts.unwrap();
    let unchanged = counts
        .iter()
        .zip([3, 4, 1])
        .filter(|(a, b)| *a == b)
        .count();
    assert_eq!((counts.iter().sum::<u32>(), unchanged), (9, 2));
}

#[test]
fn the_papers_big_m_can_make_a_state_infeasible() {
    let held = Task {
        min_nodes: 7,
        current: 6,
        ..flat("a", 6)
    };
    // A change is at most (6 + 1) / 2 nodes, which is 3 after rounding down. The task with 6 nodes therefore cannot
    // shrink to 0. It cannot reach its minimum of 7 either, because only 6 nodes are idle.
    let p = of(6, vec![held]);
    assert_eq!(solve(&p, BigM::Paper).status, Status::Infeasible);
    assert_eq!(solve(&p, BigM::Corrected).counts.unwrap(), [0]);
}

/// A problem of two tasks with convex curves. It has more nodes than the search can keep states for.
fn enormous() -> Problem {
    let task = |name: &str, last: u32| Task {
        max_nodes: last,
        curve_nodes: vec![0, last / 3, last].into(),
        curve_objective: vec![0.0, 1.0, f64::from(last)].into(),
        ..flat(name, 0)
    };
    of(
        4_000_000_000,
        vec![task("a", 3_000_000_001), task("b", 2_900_000_000)],
    )
}

#[test]
fn a_problem_too_large_to_prove_is_answered_with_a_bound() {
    let problem = enormous();
    let answer = solve(&problem, BigM::Corrected);
    assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
    assert_eq!(answer.status, Status::Feasible);
    assert!(answer.gap() > Some(0.0));
}

#[test]
fn a_time_limit_keeps_a_feasible_plan() {
    let problem = rugged(60, 3000, 5);
    let limits = Limits {
        time: std::time::Duration::ZERO,
        ..Limits::default()
    };
    let hurried = Exact::new(BigM::Corrected)
        .solve(&problem, &limits)
        .unwrap();
    assert_eq!(check(&problem, &hurried, BigM::Corrected), Ok(()));
    let optimum = solve(&problem, BigM::Corrected).objective;
    assert_eq!(hurried.status, Status::Feasible);
    assert!(hurried.objective <= optimum && hurried.bound >= optimum);
}

#[test]
fn values_beyond_a_float_are_an_error_not_a_panic() {
    let vast = Task {
        curve_objective: vec![0.0, f64::MAX].into(),
        rescale_up: f64::MAX,
        ..flat("a", 1)
    };
    let answer = Exact::new(BigM::Corrected).solve(&of(8, vec![vast]), &Limits::default());
    assert!(matches!(answer, Err(SolveError::Invalid(_))));
}

#[test]
fn problems_without_nodes_or_tasks_are_solved() {
    assert_eq!(
        solve(&of(0, vec![flat("a", 0)]), BigM::Corrected)
            .counts
            .unwrap(),
        [0]
    );
    assert_eq!(
        solve(&of(5, vec![]), BigM::Corrected).counts.unwrap(),
        Vec::<u32>::new()
    );
}
