//! Compares the exact solver with brute force and other solvers on problems with nested groups.

use std::time::Duration;

use crate::common;
use crate::common::extreme::{spread, turnover};
use crate::common::{assert_reaches, rugged};
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    Allocation, BigM, Goal, GroupLimit, Limits, Problem, SolveError, Solver, SolverKind,
    SolverSpec, Status, Task, check, synthetic,
};
use proptest::prelude::*;

fn solve(problem: &Problem, big_m: BigM) -> Allocation {
    let limits = Limits::default();
    Exact::new(big_m).solve(problem, &limits).unwrap()
}

fn big_m() -> impl Strategy<Value = BigM> {
    prop_oneof![3 => Just(BigM::Corrected), 1 => Just(BigM::Paper)]
}

/// A group of the tasks with these indices.
fn group(
    name: &str,
    tasks: &[usize],
    min_total: Option<u32>,
    max_total: Option<u32>,
) -> GroupLimit {
    GroupLimit {
        name: name.into(),
        tasks: tasks.iter().map(|j| format!("t{j}")).collect(),
        min_total,
        max_total,
    }
}

/// Whether the plan respects the limits of all groups. Tasks are looked up only by name.
fn keeps_to_groups(problem: &Problem, counts: &[u32]) -> bool {
    problem.groups.iter().all(|group| {
        let tasks = problem.tasks.iter().zip(counts);
        let inside = tasks.filter(|(task, _)| group.tasks.contains(&task.name));
        let total: u32 = inside.map(|(_, &count)| count).sum();
        group.min_total.is_none_or(|min| total >= min)
            && group.max_total.is_none_or(|max| total <= max)
    })
}

/// The best plan that respects the groups' limits, found by trying every plan; `None` if there is
/// no such plan.
fn best_of_all(problem: &Problem, big_m: BigM) -> Option<(f64, Vec<u32>)> {
    let change = big_m.change_cap(problem.nodes);
    let mut plans: Vec<Vec<u32>> = vec![vec![]];
    for task in &problem.tasks {
        let is_allowed = |&n: &u32| {
            let is_near = n.abs_diff(task.current) <= change;
            task.allows(n) && is_near && !big_m.shuts_out(problem.nodes, task.min_nodes)
        };
        let with = |n: u32| plans.iter().map(move |plan| [&plan[..], &[n]].concat());
        let longer = (0..=problem.nodes).filter(is_allowed).flat_map(with);
        plans = longer
            .filter(|plan| plan.iter().sum::<u32>() <= problem.nodes)
            .collect();
    }
    let within = plans.into_iter().filter(|p| keeps_to_groups(problem, p));
    let valued = within.map(|plan| (problem.objective(&plan), plan));
    valued.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// A set of tasks, with their greatest total value for each number of nodes that they can hold together.
struct Block {
    tasks: Vec<usize>,
    values: Vec<f64>,
}

/// Merges two blocks into one, with the greatest total value for each number of nodes up to `most`.
fn joined(a: &Block, b: &Block, most: usize) -> Block {
    let mut values = vec![f64::NEG_INFINITY; (a.values.len() + b.values.len()).min(most + 2) - 1];
    for (i, x) in a.values.iter().enumerate() {
        for (j, y) in b
            .values
            .iter()
            .enumerate()
            .take(values.len().saturating_sub(i))
        {
            values[i + j] = values[i + j].max(x + y);
        }
    }
    Block {
        tasks: [&a.tasks[..], &b.tasks].concat(),
        values,
    }
}

/// The best objective within nested groups; `None` if there is no plan. It is computed with plain tables: the tasks of
/// each group are merged into a block, starting with the smallest group.
fn best_by_tables(problem: &Problem) -> Option<f64> {
    let most = problem.nodes as usize;
    let of = |(j, task): (usize, &Task)| Block {
        tasks: vec![j],
        values: (0..=task.cap().min(problem.nodes))
            .map(|n| {
                if task.allows(n) {
                    task.value(problem.t_fwd, n)
                } else {
                    f64::NEG_INFINITY
                }
            })
            .collect(),
    };
    let mut blocks: Vec<Block> = problem.tasks.iter().enumerate().map(of).collect();
    let nothing = || Block {
        tasks: vec![],
        values: vec![0.0],
    };
    let mut groups: Vec<&GroupLimit> = problem.groups.iter().collect();
    groups.sort_by_key(|group| group.tasks.len());
    for group in groups {
        let is_inside = |block: &Block| {
            let name = &problem.tasks[block.tasks[0]].name;
            group.tasks.contains(name)
        };
        let (inside, outside): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(is_inside);
        let mut all = inside.iter().fold(nothing(), |a, b| joined(&a, b, most));
        let least = group.min_total.unwrap_or(0) as usize;
        all.values
            .truncate(group.max_total.map_or(usize::MAX, |max| max as usize + 1));
        let too_few = least.min(all.values.len());
        all.values[..too_few].fill(f64::NEG_INFINITY);
        blocks = outside;
        blocks.push(all);
    }
    let all = blocks.iter().fold(nothing(), |a, b| joined(&a, b, most));
    let best = all.values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (best > f64::NEG_INFINITY).then_some(best)
}

/// Limits of a group: often loose, sometimes impossible or absent.
fn limits() -> impl Strategy<Value = (Option<u32>, Option<u32>)> {
    let some = |most| prop_oneof![1 => Just(None), 2 => (0u32..most).prop_map(Some)];
    (some(9), some(14)).prop_map(|(min, max)| match (min, max) {
        // The minimum of a valid group is at most its maximum.
        (Some(a), Some(b)) => (Some(a.min(b)), Some(a.max(b))),
        other => other,
    })
}

/// A range of tasks (start and width) with the limits of its group.
type Range = (usize, usize, (Option<u32>, Option<u32>));

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    prop::collection::vec((0usize..6, 0usize..7, limits()), 0..6)
}

/// Adds nested groups: each group consists of the tasks in one of `ranges`, which are ranges of positions in `order`. A
/// range that crosses an earlier range is skipped. Every group names its first task twice.
fn add_groups(problem: &mut Problem, order: &[usize], ranges: &[Range]) {
    let tasks = problem.tasks.len();
    let order: Vec<usize> = order.iter().copied().filter(|&j| j < tasks).collect();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for &(from, width, (min, max)) in ranges {
        let from = from.min(tasks);
        let to = (from + width).min(tasks);
        let is_nested = |&(a, b): &(usize, usize)| {
            to <= a || b <= from || (a <= from && to <= b) || (from <= a && b <= to)
        };
        if taken.iter().all(is_nested) {
            taken.push((from, to));
            let mut group = group("g", &order[from..to], min, max);
            group.tasks.extend(group.tasks.first().cloned());
            problem.groups.push(group);
        }
    }
}

/// Small problems, which have few enough plans to try all of them.
fn small() -> impl Strategy<Value = Problem> {
    let tasks = prop::collection::vec(common::task(), 0..6);
    let t_fwd = prop_oneof![Just(10.0), 0.5..600.0];
    let order = Just((0..6).collect::<Vec<usize>>()).prop_shuffle();
    (tasks, 0u32..13, t_fwd, order, ranges(), prop::bool::ANY).prop_map(
        |(mut tasks, nodes, t_fwd, order, ranges, alike)| {
            let first = tasks.first().cloned();
            for (i, task) in tasks.iter_mut().enumerate() {
                if let (true, Some(first)) = (alike, &first) {
                    let current = task.current.min(first.cap());
                    *task = Task {
                        current,
                        ..first.clone()
                    };
                }
                task.name = format!("t{i}");
            }
            let mut problem = Problem {
                id: "small".into(),
                nodes,
                t_fwd,
                tasks,
                groups: vec![],
                goal: Goal::Total,
            };
            add_groups(&mut problem, &order, &ranges);
            problem
        },
    )
}

/// Compares the exact solver with brute force.
fn assert_best(problem: &Problem, big_m: BigM) -> Result<(), TestCaseError> {
    prop_assert_eq!(problem.validate(), Vec::<String>::new());
    let answer = solve(problem, big_m);
    prop_assert_eq!(check(problem, &answer, big_m), Ok(()));
    let Some((best, plan)) = best_of_all(problem, big_m) else {
        prop_assert_eq!(answer, Allocation::without_plan(Status::Infeasible));
        return Ok(());
    };
    prop_assert_eq!(answer.status, Status::Optimal);
    let found = answer.objective.unwrap();
    let slack = 1e-9 * (1.0 + turnover(problem, &plan));
    prop_assert!(
        (found - best).abs() <= slack,
        "{found}, best {best} {plan:?}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2_000))]

    #[test]
    fn nested_groups_match_brute_force(problem in small(), big_m in big_m()) {
        assert_best(&problem, big_m)?;
    }

    #[test]
    fn without_time_nothing_false_is_claimed(problem in small(), big_m in big_m()) {
        let answer = Exact::new(big_m).solve(&problem, &NO_TIME).unwrap();
        prop_assert_eq!(check(&problem, &answer, big_m), Ok(()));
        let Some((best, plan)) = best_of_all(&problem, big_m) else {
            prop_assert!(matches!(answer.status, Status::Infeasible | Status::Unknown));
            return Ok(());
        };
        let slack = 1e-9 * (1.0 + turnover(&problem, &plan));
        prop_assert!(answer.status != Status::Infeasible);
        prop_assert!(answer.bound.is_none_or(|bound| bound >= best - slack));
        if answer.status == Status::Optimal {
            prop_assert!(answer.objective.unwrap() >= best - slack);
        }
    }

    #[test]
    fn a_solve_does_not_depend_on_the_one_before(first in small(), second in small()) {
        let mut solver = Exact::new(BigM::Corrected);
        let limits = Limits::default();
        solver.solve(&first, &limits).unwrap();
        let after = solver.solve(&second, &limits).unwrap();
        prop_assert_eq!(after, solve(&second, BigM::Corrected));
    }

    // Adds a group that contains all tasks and must hold exactly as many nodes as the best plan uses. The group must not
    // change the optimum. Without it, the exact solver uses the relaxation and the search. With it, the solver often
    // uses the dynamic programming over the tree of groups instead.
    #[test]
    fn groups_that_the_best_plan_keeps_to_change_nothing(mut problem in common::problem()) {
        let best = solve(&problem, BigM::Corrected);
        let used = best.counts.as_ref().unwrap().iter().sum();
        problem.groups = vec![GroupLimit {
            name: "all".into(),
            tasks: problem.tasks.iter().map(|task| task.name.clone()).collect(),
            min_total: Some(used),
            max_total: Some(used),
        }];
        let answer = solve(&problem, BigM::Corrected);
        prop_assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        let (found, best) = (answer.objective.unwrap(), best.objective.unwrap());
        prop_assert!((found - best).abs() <= 1e-9 * best.abs().max(1.0));
    }

    // Each group has one task, and the groups' limits split the nodes among the tasks, so each task is a separate
    // problem.
    #[test]
    fn groups_of_one_task_each_are_solved_one_by_one(
        mut problem in common::problem(),
        most in prop::collection::vec(0u32..30, 24),
    ) {
        let limits = most.iter().take(problem.tasks.len());
        problem.nodes = problem.nodes.max(limits.clone().sum());
        problem.groups = limits
            .enumerate()
            .map(|(j, &most)| group("one", &[j], None, Some(most)))
            .collect();
        let answer = solve(&problem, BigM::Corrected);
        prop_assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        let best = problem.tasks.iter().zip(&most).map(|(task, &most)| {
            let allowed = (0..=most).filter(|&n| task.allows(n));
            allowed.map(|n| task.value(problem.t_fwd, n)).fold(f64::NEG_INFINITY, f64::max)
        });
        let (found, best) = (answer.objective.unwrap(), best.sum::<f64>());
        prop_assert!((found - best).abs() <= 1e-9 * best.abs().max(1.0), "{found}, best {best}");
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(1_000))]

    #[test]
    fn numbers_at_the_edges_of_the_ranges_are_taken(
        problem in common::extreme::problem(),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
        ranges in ranges(),
    ) {
        let mut problem = Problem { goal: Goal::Total, ..problem };
        add_groups(&mut problem, &order, &ranges);
        let answer = solve(&problem, BigM::Corrected);
        prop_assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        let Some((best, plan)) = best_of_all(&problem, BigM::Corrected) else {
            prop_assert_eq!(answer.status, Status::Infeasible);
            return Ok(());
        };
        let counts = answer.counts.as_ref().unwrap();
        let slack = 1e-6 * (turnover(&problem, counts) + turnover(&problem, &plan));
        prop_assert!(answer.bound.unwrap() >= best - slack);
        if answer.status == Status::Optimal {
            prop_assert!(answer.objective.unwrap() >= best - slack, "{:?}, best {best}", answer);
        }
        prop_assert!(answer.status == Status::Optimal || spread(&problem) > 100.0);
    }
}

/// A task with a value of 10 per node, on up to 8 nodes.
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

/// A problem of [`flat`] tasks with these current counts.
fn flat_problem(nodes: u32, current: &[u32], groups: Vec<GroupLimit>) -> Problem {
    let tasks = current.iter().enumerate();
    Problem {
        id: "flat".into(),
        nodes,
        t_fwd: 10.0,
        tasks: tasks.map(|(j, &n)| flat(&format!("t{j}"), n)).collect(),
        groups,
        goal: Goal::Total,
    }
}

// Small fixed example: changes cost nothing, and every split of the group's nodes has the same
// value.
#[test]
fn equally_good_plans_keep_tasks_as_they_are() {
    let at_most_9 = vec![group("a", &[0, 1, 2], None, Some(9))];
    for order in [[3, 4, 2, 1], [2, 3, 4, 8], [4, 2, 3, 0]] {
        let answer = solve(
            &flat_problem(20, &order, at_most_9.clone()),
            BigM::Corrected,
        );
        assert_eq!(answer.counts.unwrap()[..3], order[..3]);
    }
    // One task of the group must shrink, and the plan changes no other task.
    let answer = solve(&flat_problem(20, &[3, 4, 4, 8], at_most_9), BigM::Corrected);
    let counts = answer.counts.unwrap();
    let kept = counts.iter().zip([3, 4, 4, 8]).filter(|(a, b)| **a == *b);
    assert_eq!((counts[..3].iter().sum::<u32>(), kept.count()), (9, 3));
}

#[test]
fn groups_that_limit_nothing_change_nothing() {
    let plain = flat_problem(9, &[1, 2, 3], vec![]);
    let expected = solve(&plain, BigM::Corrected);
    let mut grouped = plain;
    grouped.groups = vec![
        group("no limits", &[0, 1], None, None),
        group("crossing, but without limits", &[1, 2], Some(0), None),
        group("empty", &[], Some(0), Some(0)),
        group("twice", &[2, 2, 2], None, Some(8)),
    ];
    assert_eq!(solve(&grouped, BigM::Corrected), expected);
}

#[test]
fn minimums_that_cannot_be_met_are_infeasible() {
    let status = |groups| solve(&flat_problem(9, &[1, 2, 3], groups), BigM::Corrected).status;
    for groups in [
        vec![group("more than idle", &[0, 1], Some(10), None)],
        vec![group("more than the task takes", &[0], Some(9), None)],
        vec![group("empty", &[], Some(1), None)],
        vec![
            group("a", &[0], Some(5), None),
            group("b", &[1], Some(5), None),
        ],
        vec![
            group("in", &[0], Some(5), None),
            group("out", &[0, 1], None, Some(4)),
        ],
    ] {
        assert_eq!(status(groups), Status::Infeasible);
    }
    // The counts 3 and 3 satisfy the limits. If every task needs at least 4 nodes, no plan satisfies them.
    let mut gaps = flat_problem(9, &[0, 0], vec![group("a", &[0, 1], Some(6), Some(7))]);
    assert_eq!(solve(&gaps, BigM::Corrected).status, Status::Optimal);
    for task in &mut gaps.tasks {
        (task.min_nodes, task.max_nodes) = (4, 5);
    }
    assert_eq!(solve(&gaps, BigM::Corrected).status, Status::Infeasible);
}

#[test]
fn crossing_groups_are_refused_by_name() {
    let groups = vec![
        group("inner", &[0], None, Some(1)),
        group("left", &[0, 1], None, Some(1)),
        group("right", &[1, 2], None, Some(1)),
    ];
    let problem = flat_problem(4, &[0, 0, 0], groups);
    let (first, second) = problem.crossing_groups().unwrap();
    assert_eq!((&first.name[..], &second.name[..]), ("left", "right"));
    let error = Exact::new(BigM::Corrected)
        .solve(&problem, &Limits::default())
        .unwrap_err();
    let says = error.to_string();
    for word in ["left", "right", "cross", "auto", "highs or cbc"] {
        assert!(says.contains(word), "{says}");
    }
    assert!(error.is_wrong_choice());
    assert!(
        SolverSpec::new(SolverKind::Exact)
            .accepts(&problem)
            .is_err()
    );
}

#[test]
fn groups_with_the_max_min_goal_are_refused_by_name() {
    let mut problem = flat_problem(4, &[0, 0], vec![group("team", &[0], None, Some(1))]);
    problem.goal = Goal::MaxMin;
    let error = Exact::new(BigM::Corrected)
        .solve(&problem, &Limits::default())
        .unwrap_err();
    assert!(matches!(&error, SolveError::FairGroups { group } if group == "team"));
    assert!(error.is_wrong_choice());
}

#[test]
fn auto_takes_the_exact_solver_if_groups_are_nested() {
    let kind = |problem: &Problem| SolverSpec::new(SolverKind::Auto).for_problem(problem).kind;
    let mut problem = synthetic::grouped(20, 60, 1);
    assert_eq!(kind(&problem), SolverKind::Exact);
    let mut auto = SolverSpec::new(SolverKind::Auto).build().unwrap();
    let answer = auto.solve(&problem, &Limits::default()).unwrap();
    assert_eq!(
        (auto.name(), answer),
        ("exact", solve(&problem, BigM::Corrected))
    );
    problem.goal = Goal::MaxMin;
    assert_ne!(kind(&problem), SolverKind::Exact);
    assert_ne!(kind(&synthetic::crossing(20, 60, 1)), SolverKind::Exact);
}

#[test]
fn generated_problems_are_solved_within_their_groups() {
    let mut limits_that_bind = 0;
    for seed in 0..30 {
        let size = 5 + 5 * (seed % 12);
        let problem = synthetic::grouped(size as usize, 4 * size as u32, seed);
        let answer = solve(&problem, BigM::Corrected);
        assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
        assert_eq!(answer.status, Status::Optimal);
        let free = Problem {
            groups: vec![],
            ..problem.clone()
        };
        let best = solve(&free, BigM::Corrected).objective;
        assert!(answer.objective <= best);
        limits_that_bind += u32::from(answer.objective < best);
    }
    assert!(limits_that_bind > 20, "{limits_that_bind} of 30");
}

// Compares the exact solver with plain tables on wide ranges of counts and on curves that are far from concave.
#[test]
fn nested_groups_match_plain_tables() {
    let (mut bind, mut infeasible) = (0, 0);
    for seed in 0..120u32 {
        let tasks = 6 + seed as usize % 15;
        let mut problem = rugged(tasks, 40 + 4 * seed, seed);
        for (j, task) in problem.tasks.iter_mut().enumerate() {
            task.current = (problem.nodes / tasks as u32) * u32::from(j % 3 == 0);
        }
        let free = solve(&problem, BigM::Corrected).objective;
        // Two small groups are nested in a group of five tasks, which is nested in a group of all tasks but one.
        let names = |range: std::ops::Range<usize>| -> Vec<String> {
            problem.tasks[range]
                .iter()
                .map(|task| task.name.clone())
                .collect()
        };
        let group = |tasks, min_total, max_total| GroupLimit {
            name: "g".into(),
            tasks,
            min_total,
            max_total,
        };
        let share = |of: u32| problem.nodes * (1 + seed % of) / of;
        problem.groups = vec![
            group(names(0..3), None, Some(share(5))),
            group(names(3..5), Some(share(6) / 4), None),
            group(names(0..tasks - 1), Some(share(4) / 2), Some(share(4))),
            group(names(0..5), Some(share(3) / 3), Some(share(3))),
        ];
        let answer = solve(&problem, BigM::Corrected);
        match best_by_tables(&problem) {
            Some(best) => {
                assert_reaches(&problem, &answer, BigM::Corrected, best);
                assert_eq!(answer.status, Status::Optimal);
                bind += u32::from(answer.objective < free);
            }
            None => {
                assert_eq!(answer.status, Status::Infeasible);
                infeasible += 1;
            }
        }
    }
    assert!(bind > 60, "{bind} of 120 bind, {infeasible} are infeasible");
}

/// Limits that leave no time for the search.
const NO_TIME: Limits = Limits {
    time: Duration::ZERO,
    gap: 1e-9,
};

#[test]
fn a_time_limit_keeps_a_feasible_plan_or_says_that_none_is_known() {
    let (mut kept, mut unknown) = (0, 0);
    for seed in 0..40 {
        let problem = synthetic::grouped(40, 300, seed);
        let best = solve(&problem, BigM::Corrected).objective.unwrap();
        let hurried = Exact::new(BigM::Corrected)
            .solve(&problem, &NO_TIME)
            .unwrap();
        assert_eq!(check(&problem, &hurried, BigM::Corrected), Ok(()));
        match hurried.status {
            Status::Optimal => assert!(hurried.objective.unwrap() >= best * (1.0 - 1e-9)),
            Status::Feasible => kept += 1,
            Status::Unknown => unknown += 1,
            Status::Infeasible => panic!("{} has a plan", problem.id),
        }
        let bound = hurried.bound.unwrap_or(f64::INFINITY);
        assert!(bound >= best * (1.0 - 1e-9), "{bound}, best {best}");
    }
    assert!(unknown > 0, "{kept} kept, {unknown} unknown");
    // The group allows all tasks to keep their counts, but forbids the best plan of the relaxation.
    let mut staying = synthetic::noisy(20, 100, 3);
    let counts = staying.stay_put().unwrap();
    staying.groups = vec![GroupLimit {
        name: "half".into(),
        tasks: staying
            .tasks
            .iter()
            .step_by(2)
            .map(|task| task.name.clone())
            .collect(),
        min_total: None,
        max_total: Some(counts.iter().step_by(2).sum()),
    }];
    let hurried = Exact::new(BigM::Corrected)
        .solve(&staying, &NO_TIME)
        .unwrap();
    assert_eq!(check(&staying, &hurried, BigM::Corrected), Ok(()));
    assert_eq!(hurried.status, Status::Feasible);
    let best = solve(&staying, BigM::Corrected).objective;
    assert!(hurried.bound >= best && hurried.objective <= best);
}

// The plan that changes least takes all 5 nodes from a task below its minimum, but the paper's big-M allows a change of
// at most 4 nodes. The relaxation gives a node to each of the two other tasks.
#[test]
fn a_plan_that_the_big_m_forbids_is_not_fallen_back_to() {
    let at_most_1 = vec![group("a", &[1, 2], None, Some(1))];
    let mut problem = flat_problem(8, &[5, 0, 0], at_most_1);
    (problem.tasks[0].min_nodes, problem.tasks[0].weight) = (6, 0.5);
    assert_eq!(problem.stay_put(), Some(vec![0, 0, 0]));
    let hurried = |big_m| Exact::new(big_m).solve(&problem, &NO_TIME).unwrap();
    assert_eq!(hurried(BigM::Corrected).counts, Some(vec![0, 0, 0]));
    assert_eq!(
        hurried(BigM::Paper),
        Allocation::without_plan(Status::Unknown)
    );
    assert_eq!(solve(&problem, BigM::Paper).counts.unwrap()[0], 7);
}

// The tables for this group and for all tasks would take hundreds of gigabytes.
#[test]
fn a_problem_too_large_for_memory_is_answered_with_a_bound() {
    let task = |j: usize| Task {
        max_nodes: 2_000_000_000,
        curve_nodes: vec![0, 500_000_000, 2_000_000_000].into(),
        curve_objective: vec![0.0, 1.0, 2_000_000_000.0].into(),
        ..flat(&format!("t{j}"), 0)
    };
    let mut problem = flat_problem(4_000_000_000, &[0; 4], vec![]);
    problem.tasks = (0..4).map(task).collect();
    problem.groups = vec![group("a", &[0, 1], None, Some(2_900_000_001))];
    let answer = solve(&problem, BigM::Corrected);
    assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
    assert_eq!(answer.status, Status::Feasible);
    assert!(answer.gap() > Some(0.0));
    // A small group leaves few counts for its tasks, so the tables are small too.
    problem.tasks.truncate(3);
    problem.groups = vec![
        group("small", &[0, 1], Some(3), Some(7)),
        group("smaller", &[2], None, Some(5)),
    ];
    assert_eq!(solve(&problem, BigM::Corrected).status, Status::Optimal);
}

// A chain of groups, each of which lies within the next.
#[test]
fn deep_nests_are_solved() {
    let tasks = 400;
    let mut problem = synthetic::problem(tasks, 900, 3);
    problem.groups = (1..=tasks)
        .map(|size| GroupLimit {
            name: format!("first {size}"),
            tasks: problem.tasks[..size]
                .iter()
                .map(|t| t.name.clone())
                .collect(),
            min_total: None,
            max_total: Some(2 * size as u32),
        })
        .collect();
    let answer = solve(&problem, BigM::Corrected);
    assert_eq!(check(&problem, &answer, BigM::Corrected), Ok(()));
    assert_eq!(answer.status, Status::Optimal);
}

// Compares the exact solver with HiGHS and CBC, which share no code with it.
#[cfg(all(feature = "highs", feature = "cbc"))]
#[test]
fn nested_groups_match_the_libraries() {
    let limits = Limits {
        time: Duration::from_secs(60),
        ..Limits::default()
    };
    for seed in 0..24 {
        let size = 4 + 3 * (seed % 8);
        let mut problem = synthetic::grouped(size as usize, 3 * size as u32, seed);
        if seed % 3 == 0 {
            let noisy = synthetic::noisy(size as usize, problem.nodes, seed);
            for (task, noisy) in problem.tasks.iter_mut().zip(noisy.tasks) {
                task.curve_nodes = noisy.curve_nodes;
                task.curve_objective = noisy.curve_objective;
            }
        }
        for big_m in [BigM::Corrected, BigM::Paper] {
            let exact = solve(&problem, big_m);
            assert_eq!(check(&problem, &exact, big_m), Ok(()));
            for kind in [SolverKind::Highs, SolverKind::Cbc] {
                let spec = SolverSpec {
                    big_m,
                    ..SolverSpec::new(kind)
                };
                let other = spec.build().unwrap().solve(&problem, &limits).unwrap();
                assert_eq!(other.status, exact.status, "{kind:?} {}", problem.id);
                if let (Some(a), Some(b)) = (exact.objective, other.objective) {
                    assert!(
                        (a - b).abs() <= 1e-6 * b.abs(),
                        "{kind:?} {seed}: {b}, exact {a}"
                    );
                }
            }
        }
    }
}

/// Problems whose limits allow only one plan, worth 0, although the values of tasks differ by
/// orders of magnitude.
const WORTH_NOTHING: [&str; 2] = [
    r#"{"id": "a member holds all that its group may hold", "nodes": 9, "t_fwd": 60, "tasks": [{"name": "t0", "min_nodes": 3, "max_nodes": 4, "rescale_up": 0, "rescale_down": 11.42, "curve_nodes": [0, 6, 9, 12, 13], "curve_objective": [0.0, 0.0, 66.2, 0.0, 14.1], "current": 3}, {"name": "t1", "min_nodes": 2, "max_nodes": 2, "rescale_up": 13.85, "rescale_down": 0, "curve_nodes": [0, 2, 4, 7], "curve_objective": [0.0, 36.1, 0.0017, 5.5], "current": 0}, {"name": "t2", "min_nodes": 4, "max_nodes": 8, "rescale_up": 22.73, "rescale_down": 0, "curve_nodes": [0, 3], "curve_objective": [0.0, 42.3], "current": 0}, {"name": "t3", "min_nodes": 2, "max_nodes": 8, "rescale_up": 0, "rescale_down": 0, "curve_nodes": [0, 6, 11], "curve_objective": [0.0, 9.75e-08, 0.0], "current": 0}], "groups": [{"name": "g", "tasks": ["t0", "t1", "t2", "t3"], "max_total": 3}, {"name": "h", "tasks": ["t0", "t1", "t2", "t3"], "max_total": 7}, {"name": "m", "tasks": ["t0"], "min_total": 1}]}"#,
    r#"{"id": "a minimum leaves nothing to the others", "nodes": 8, "t_fwd": 60, "tasks": [{"name": "t0", "min_nodes": 1, "max_nodes": 8, "rescale_up": 0, "rescale_down": 2.08, "curve_nodes": [0, 2, 6, 12], "curve_objective": [4.91, 0.0, 0.0, 7.46], "current": 0}, {"name": "t1", "min_nodes": 4, "max_nodes": 5, "rescale_up": 19.09, "rescale_down": 0, "curve_nodes": [0, 3, 5, 6], "curve_objective": [0.0, 0.0249, 0.0, 70.7], "current": 0}, {"name": "t2", "min_nodes": 6, "max_nodes": 8, "rescale_up": 0, "rescale_down": 4.73, "curve_nodes": [0, 6], "curve_objective": [0.0, 9.5e-09], "current": 0}], "groups": [{"name": "g", "tasks": ["t0", "t1"], "max_total": 2}, {"name": "h", "tasks": ["t0", "t1", "t2"], "max_total": 2}, {"name": "m", "tasks": ["t0"], "min_total": 2}]}"#,
];

#[test]
fn an_optimum_of_0_is_proven() {
    for text in WORTH_NOTHING {
        let problem: Problem = serde_json::from_str(text).unwrap();
        let answer = solve(&problem, BigM::Corrected);
        assert_eq!(answer.status, Status::Optimal, "{}", problem.id);
        assert_eq!((answer.objective, answer.gap()), (Some(0.0), Some(0.0)));
    }
}
