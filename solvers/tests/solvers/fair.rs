//! Compares the exact solver with brute force under the max-min goal.

use crate::common;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    Allocation, BigM, Goal, Limits, Merit, Problem, Solver, SolverKind, SolverSpec, Status, Task,
    check, synthetic,
};
use proptest::prelude::*;

fn solve(problem: &Problem, big_m: BigM) -> Allocation {
    Exact::new(big_m)
        .solve(problem, &Limits::default())
        .unwrap()
}

/// Small problems under the max-min goal.
fn small() -> impl Strategy<Value = Problem> {
    (
        prop::collection::vec(common::task(), 0..5),
        0u32..14,
        prop_oneof![Just(10.0), 0.5..600.0],
        1usize..3,
    )
        .prop_map(|(tasks, nodes, t_fwd, copies)| {
            let mut tasks: Vec<Task> = tasks
                .iter()
                .flat_map(|t| vec![t.clone(); copies])
                .take(5)
                .collect();
            for (i, task) in tasks.iter_mut().enumerate() {
                task.name = format!("t{i}");
            }
            Problem {
                id: "random".into(),
                nodes,
                t_fwd,
                tasks,
                groups: vec![],
                goal: Goal::MaxMin,
            }
        })
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2_000))]

    #[test]
    fn no_plan_is_better(problem in small(), big_m in prop_oneof![Just(BigM::Corrected), Just(BigM::Paper)]) {
        let answer = solve(&problem, big_m);
        prop_assert_eq!(check(&problem, &answer, big_m), Ok(()));
        let best = common::best_of_all(&problem, big_m).map(|(merit, _)| merit);
        let Some(counts) = &answer.counts else {
            prop_assert_eq!(best, None);
            return Ok(());
        };
        prop_assert_eq!(answer.status, Status::Optimal);
        let (found, best) = (problem.merit(counts), best.unwrap());
        // The number of running tasks and the least share are equal; the total is equal up to
        // rounding.
        let best_total = Merit { total: found.total, ..best };
        prop_assert_eq!(found, best_total);
        let slack = 1e-9 * best.total.abs().max(1.0);
        prop_assert!((found.total - best.total).abs() <= slack, "{:?}, best {:?}", found, best);
        prop_assert!(answer.bound.unwrap() >= best.total - slack);
    }

    #[test]
    fn a_solver_may_be_used_for_different_goals(fair in small(), other in common::problem()) {
        let mut solver = Exact::new(BigM::Corrected);
        let limits = Limits::default();
        solver.solve(&fair, &limits).unwrap();
        prop_assert_eq!(solver.solve(&other, &limits).unwrap(), solve(&other, BigM::Corrected));
        prop_assert_eq!(solver.solve(&fair, &limits).unwrap(), solve(&fair, BigM::Corrected));
    }
}

fn linear(name: &str, min_nodes: u32, max_nodes: u32, current: u32) -> Task {
    Task {
        name: name.into(),
        min_nodes,
        max_nodes,
        rescale_up: 10.0,
        rescale_down: 10.0,
        curve_nodes: vec![0, max_nodes].into(),
        curve_objective: vec![0.0, f64::from(max_nodes)].into(),
        weight: 1.0,
        current,
    }
}

fn fair(nodes: u32, t_fwd: f64, tasks: Vec<Task>) -> Problem {
    Problem {
        id: "fixed".into(),
        nodes,
        t_fwd,
        tasks,
        groups: vec![],
        goal: Goal::MaxMin,
    }
}

// Small fixed examples, worked out by hand: one task can use 4 nodes, the other 12.
#[test]
fn nodes_are_dealt_in_proportion_to_what_tasks_can_use() {
    let tasks = vec![linear("small", 1, 4, 0), linear("large", 1, 12, 0)];
    let answer = solve(&fair(8, 100.0, tasks.clone()), BigM::Corrected);
    assert_eq!(answer.counts.unwrap(), [2, 6]);
    assert_eq!(answer.fairness.unwrap().least_share, Some(0.5));
    // The ninth node cannot raise the least share, so it raises the total.
    let answer = solve(&fair(9, 100.0, tasks), BigM::Corrected);
    assert_eq!(answer.counts.unwrap().iter().sum::<u32>(), 9);
}

#[test]
fn a_task_that_holds_all_nodes_gives_some_up_despite_the_cost() {
    let tasks = vec![linear("old", 2, 4, 4), linear("new", 2, 4, 0)];
    // In a window of 5 seconds, a task cannot make up for the 10 seconds lost to shrinking. It shrinks nevertheless,
    // because fairness takes precedence.
    let answer = solve(&fair(4, 5.0, tasks), BigM::Corrected);
    assert_eq!(answer.counts.unwrap(), [2, 2]);
}

#[test]
fn if_not_all_tasks_fit_as_few_as_possible_are_left_out() {
    let tasks = vec![
        linear("huge", 8, 8, 0),
        linear("a", 3, 8, 0),
        linear("b", 3, 8, 0),
    ];
    let answer = solve(&fair(8, 100.0, tasks), BigM::Corrected);
    assert_eq!(answer.counts.unwrap(), [0, 4, 4]);
}

#[test]
fn large_problems_are_fair_too() {
    for seed in 0..10 {
        let problem = Problem {
            goal: Goal::MaxMin,
            ..synthetic::problem(60, 400 + 150 * seed as u32, seed)
        };
        let answer = solve(&problem, BigM::Corrected);
        assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        assert_eq!(answer.status, Status::Optimal);
        // No plan that runs as many tasks has a higher minimum share.
        let level = answer.fairness.unwrap().least_share.unwrap();
        let needed = |task: &Task| {
            let reaches = |&n: &u32| task.allows(n) && task.share(problem.t_fwd, n) > level;
            (1..=task.cap()).find(reaches)
        };
        let mut fewest: Vec<u32> = problem.tasks.iter().filter_map(needed).collect();
        fewest.sort_unstable();
        let mut left = problem.nodes;
        let fit = fewest.iter().take_while(|&&n| {
            let fits = n <= left;
            left = left.saturating_sub(n);
            fits
        });
        assert!(fit.count() < answer.fairness.unwrap().running as usize);
    }
}

#[test]
fn the_heuristic_reports_its_fairness() {
    let problem = fair(8, 100.0, vec![linear("a", 1, 8, 0), linear("b", 1, 8, 0)]);
    let mut solver = SolverSpec::new(SolverKind::EqualShare).build().unwrap();
    let answer = solver.solve(&problem, &Limits::default()).unwrap();
    assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
    assert_eq!(answer.fairness.unwrap().running, 2);
}
