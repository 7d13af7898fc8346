//! Tests that plans for problems with node classes are valid and proven optimal.

use std::collections::BTreeMap;

use gleaner_classes::{
    Answer, Choice, Class, Counts, CurrentNodes, Curve, CurveProblem, CurveTask, Exact, Group,
    Held, PerClass, Problem, Task, Violation, check,
};
use gleaner_solvers::{Limits, SolveError, Status};
use proptest::prelude::*;

mod support;

use support::{solve, solve_by_milp};

/// Whether the plan respects the capacities, options and fixed tasks.
fn is_valid(problem: &Problem, plan: &[Option<Held>]) -> bool {
    let mut free: Vec<i64> = problem
        .classes
        .iter()
        .map(|class| class.capacity.into())
        .collect();
    for held in plan.iter().flatten() {
        free[held.class] -= i64::from(held.count);
    }
    let tasks = || problem.tasks.iter().zip(plan);
    plan.len() == problem.tasks.len()
        && free.iter().all(|free| *free >= 0)
        && tasks().all(|(task, held)| task.value_of(*held).is_some())
        && tasks().all(|(task, held)| !task.fixed || task.current == *held)
}

/// The greatest objective of any plan, found by trying all plans; `None` if there is no plan.
fn brute_force(problem: &Problem, task: usize, free: &mut Vec<u32>) -> Option<f64> {
    let Some(here) = problem.tasks.get(task) else {
        return Some(0.0);
    };
    let mut best: Option<f64> = None;
    let mut consider = |value: Option<f64>| {
        best = match (best, value) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    };
    let may_be = |held: Option<Held>| !here.fixed || here.current == held;
    if may_be(None) {
        consider(brute_force(problem, task + 1, free).map(|rest| rest + here.none));
    }
    for option in here
        .options
        .iter()
        .filter(|option| may_be(Some(option.held())))
    {
        if option.count <= free[option.class] {
            free[option.class] -= option.count;
            consider(brute_force(problem, task + 1, free).map(|rest| rest + option.value));
            free[option.class] += option.count;
        }
    }
    best
}

/// The greatest objective of a problem without fixed tasks, by dynamic programming over the free nodes of all classes.
fn dynamic_program(problem: &Problem) -> f64 {
    let sizes: Vec<usize> = problem
        .classes
        .iter()
        .map(|class| class.capacity as usize + 1)
        .collect();
    let strides: Vec<usize> = sizes
        .iter()
        .scan(1, |stride, size| {
            let this = *stride;
            *stride *= size;
            Some(this)
        })
        .collect();
    let cells: usize = sizes.iter().product();
    // The best objective of the tasks so far with at most these nodes.
    let mut best = vec![0.0; cells];
    for task in &problem.tasks {
        best = (0..cells)
            .map(|cell| {
                let has = |class: usize| cell / strides[class] % sizes[class];
                let options = task
                    .options
                    .iter()
                    .filter(|option| option.count as usize <= has(option.class));
                let values =
                    options.map(|o| best[cell - o.count as usize * strides[o.class]] + o.value);
                values.fold(best[cell] + task.none, f64::max)
            })
            .collect();
    }
    best[cells - 1]
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// The reference problems of a file, each with its stated optimum and plan.
fn references(file: &str) -> Vec<(Problem, f64, Vec<Option<Held>>)> {
    let Some(path) = gleaner_testing::shared(&format!("classes/{file}.jsonl")) else {
        return Vec::new();
    };
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    let parse = |line: &str| -> serde_json::Result<_> {
        let stated: serde_json::Value = serde_json::from_str(line)?;
        let plan = serde_json::from_value(stated["plan"].clone())?;
        let optimum = stated["optimum"].as_f64().unwrap_or(f64::NAN);
        Ok((serde_json::from_str(line)?, optimum, plan))
    };
    let lines = text
        .lines()
        .map(|line| parse(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    lines.collect()
}

#[test]
fn reference_problems_have_their_stated_optima() {
    for file in ["problems", "smooth"] {
        for (problem, optimum, stated) in references(file) {
            let id = &problem.id;
            assert!(is_valid(&problem, &stated), "{file} {id}: the stated plan");
            assert!(
                problem
                    .objective(&stated)
                    .is_some_and(|found| is_near(found, optimum)),
                "{file} {id}"
            );
            let answer = solve(&problem);
            assert_eq!(answer.status, Status::Optimal, "{file} {id}");
            assert!(
                answer.plan.is_some_and(|plan| is_valid(&problem, &plan)),
                "{file} {id}"
            );
            let found = answer.objective.unwrap_or(f64::NAN);
            assert!(
                is_near(found, optimum),
                "{file} {id}: {found}, expected {optimum}"
            );
        }
    }
}

#[test]
fn dynamic_programming_agrees_where_it_fits() {
    for (problem, optimum, _) in references("smooth") {
        let cells: u64 = problem
            .classes
            .iter()
            .map(|class| u64::from(class.capacity) + 1)
            .product();
        if cells <= 20_000 && problem.tasks.iter().all(|task| !task.fixed) {
            assert!(
                is_near(dynamic_program(&problem), optimum),
                "{}",
                problem.id
            );
        }
    }
}

/// The method by which the values of options are generated.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// Any numbers from -2 to 10.
    Any,
    /// Multiples of 0.5, so that many plans tie.
    Halves,
    /// Linear in the number of nodes, so that most plans tie.
    Linear,
}

fn problem(most_tasks: usize, most_nodes: u32) -> impl Strategy<Value = Problem> {
    let values = prop_oneof![
        Just(Values::Any),
        Just(Values::Halves),
        Just(Values::Linear)
    ];
    let classes = prop::collection::vec(0..=most_nodes, 1..4);
    (classes, values).prop_flat_map(move |(capacities, values)| {
        let classes = capacities.len();
        let option = (0..classes, 1..=most_nodes + 1, -2.0..10.0);
        let task = (prop::collection::vec(option, 0..6), -3.0..1.0, any::<u8>());
        prop::collection::vec(task, 0..=most_tasks).prop_map(move |tasks| Problem {
            groups: Vec::new(),
            id: String::new(),
            classes: (0..)
                .zip(&capacities)
                .map(|(index, capacity)| Class {
                    name: format!("k{index}"),
                    capacity: *capacity,
                })
                .collect(),
            tasks: (0..)
                .zip(tasks)
                .map(|(index, task)| make(index, task, values))
                .collect(),
        })
    })
}

fn make(
    index: usize,
    (options, none, dice): (Vec<(usize, u32, f64)>, f64, u8),
    values: Values,
) -> Task {
    let shaped = |count: u32, value: f64| match values {
        Values::Any => value,
        Values::Halves => (value * 2.0).round() / 2.0,
        Values::Linear => f64::from(count),
    };
    let mut kept: Vec<Choice> = Vec::new();
    for (class, count, value) in options {
        if kept
            .iter()
            .all(|other| (other.class, other.count) != (class, count))
        {
            let value = shaped(count, value);
            kept.push(Choice {
                class,
                count,
                value,
            });
        }
    }
    let current = kept.first().map(Choice::held).filter(|_| dice % 2 == 0);
    Task {
        name: format!("t{index}"),
        none: if dice % 3 == 0 { 0.0 } else { shaped(0, none) },
        fixed: dice % 10 == 0,
        options: kept,
        current,
    }
}

/// Converts a problem without node classes to a [`CurveProblem`] with a single class.
fn of_one_class(plain: &gleaner_solvers::Problem) -> CurveProblem {
    let name = || "k".to_owned();
    let tasks = plain.tasks.iter().map(|task| CurveTask {
        name: task.name.clone(),
        curves: BTreeMap::from([(
            name(),
            Curve {
                nodes: task.curve_nodes.to_vec(),
                objective: task
                    .curve_objective
                    .iter()
                    .map(|rate| rate * task.weight)
                    .collect(),
            },
        )]),
        min_nodes: PerClass::All(task.min_nodes),
        max_nodes: PerClass::All(task.max_nodes),
        rescale_up: task.rescale_up,
        rescale_down: task.rescale_down,
        move_cost: None,
        counts: Counts::All,
        current: (task.current > 0).then(|| CurrentNodes {
            class: name(),
            nodes: task.current,
        }),
    });
    CurveProblem {
        groups: Vec::new(),
        id: plain.id.clone(),
        classes: vec![Class {
            name: name(),
            capacity: plain.nodes,
        }],
        t_fwd: plain.t_fwd,
        tasks: tasks.collect(),
    }
}

#[test]
fn one_class_has_the_optimum_of_the_solver_without_classes() {
    for seed in 0..40 {
        for make in [
            gleaner_solvers::synthetic::problem,
            gleaner_solvers::synthetic::noisy,
        ] {
            let plain = make(2 + seed as usize % 9, 10 + 7 * (seed as u32 % 20), seed);
            let expected = plain.solve().map(|answer| answer.objective);
            let expected = expected
                .unwrap_or_else(|error| panic!("{error}"))
                .unwrap_or(f64::NAN);
            let problem = of_one_class(&plain).to_options();
            let answer = solve(&problem.unwrap_or_else(|faults| panic!("{faults:?}")));
            assert_eq!(answer.status, Status::Optimal, "seed {seed}");
            let found = answer.objective.unwrap_or(f64::NAN);
            assert!(
                is_near(found, expected),
                "seed {seed}: {found}, expected {expected}"
            );
        }
    }
}

/// Dividing the nodes of a problem among identical classes does not increase the optimum.
#[test]
fn equal_classes_are_never_better_than_one() {
    for seed in 0..40 {
        let mut plain = gleaner_solvers::synthetic::problem(6, 40, seed);
        plain.tasks.iter_mut().for_each(|task| task.current = 0);
        let one = of_one_class(&plain);
        let mut several = one.clone();
        several.classes = [("a", 20), ("b", 15), ("c", 5)]
            .map(|(name, capacity)| Class {
                name: name.to_owned(),
                capacity,
            })
            .into();
        for task in &mut several.tasks {
            let curve = &task.curves["k"];
            task.curves = ["a", "b", "c"]
                .map(|name| (name.to_owned(), curve.clone()))
                .into();
        }
        let objective = |problem: &CurveProblem| {
            let problem = problem
                .to_options()
                .unwrap_or_else(|faults| panic!("{faults:?}"));
            solve(&problem).objective.unwrap_or(f64::NAN)
        };
        let (one, several) = (objective(&one), objective(&several));
        assert!(
            several <= one + 1e-9 * one.abs(),
            "seed {seed}: {several} of {one}"
        );
        assert!(several > 0.5 * one, "seed {seed}: {several} of {one}");
    }
}

/// The expected values were worked out by hand. The window is 100 s. The task holds 3 nodes of class a, where it earns
/// 13 per second, halfway between 10 on 2 nodes and 16 on 4.
#[test]
fn values_are_rates_less_the_costs_of_changes() {
    let text = r#"{"t_fwd": 100, "classes": [{"name": "a", "nodes": 4}, {"name": "b", "nodes": 3}], "tasks": [{
        "name": "t", "curves": {
            "a": {"nodes": [0, 2, 4], "objective": [0, 10, 16]},
            "b": {"nodes": [0, 1, 3], "objective": [0, 12, 30]}
        }, "min_nodes": {"a": 2, "b": 1}, "max_nodes": 4, "rescale_up": 3, "rescale_down": 2, "move": 4,
        "current": {"class": "a", "nodes": 3}
    }]}"#;
    let curves: CurveProblem = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    let options = |counts: Counts, move_cost| {
        let mut curves = curves.clone();
        (curves.tasks[0].counts, curves.tasks[0].move_cost) = (counts, move_cost);
        let problem = curves
            .to_options()
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        let options = problem.tasks[0].options.iter();
        let options: Vec<_> = options.map(|o| (o.class, o.count, o.value)).collect();
        (problem.tasks[0].none, options)
    };
    let (none, all) = options(Counts::All, Some(4.0));
    assert_eq!(none, -26.0);
    let of_a = [(0, 2, 1000.0 - 26.0), (0, 3, 1300.0), (0, 4, 1600.0 - 39.0)];
    assert_eq!(all[..3], of_a);
    assert_eq!(
        all[3..],
        [
            (1, 1, 1200.0 - 52.0),
            (1, 2, 2100.0 - 52.0),
            (1, 3, 3000.0 - 52.0)
        ]
    );
    let (_, points) = options(Counts::Points, None);
    assert_eq!(
        points,
        [
            of_a[0],
            of_a[2],
            (1, 1, 1200.0 - 65.0),
            (1, 3, 3000.0 - 65.0)
        ]
    );
}

#[test]
fn faults_of_curves_are_named() {
    let text = r#"{"t_fwd": 0, "classes": [{"name": "a", "nodes": 4}], "tasks": [{
        "name": "t", "curves": {"a": {"nodes": [1, 1], "objective": [-1]}, "b": {"nodes": [0], "objective": [0]}},
        "min_nodes": {"a": 3}, "max_nodes": 2, "rescale_up": -3, "rescale_down": 2
    }]}"#;
    let curves: CurveProblem = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    let faults = curves.to_options().err().unwrap_or_default();
    assert_eq!(
        faults,
        [
            "t_fwd is 0e0, expected more than 0 and at most 1e12",
            "task t: there is no class b",
            "task t: class a: found 2 node counts and 1 objective values, expected the same number",
            "task t: class a: the nodes must start at 0",
            "task t: class a: the nodes must be strictly increasing, found 1 after 1",
            "task t: class a: found an objective of -1e0, expected 0 to 1e15",
            "task t: class a: found min_nodes 3 and max_nodes 2, expected 1 <= min_nodes <= max_nodes",
            "task t: class b: min_nodes or max_nodes is missing",
            "task t: rescale_up is -3e0, expected 0 to 1e12",
        ]
    );
}

/// Problems that an earlier version of the solver solved wrongly, with their optima.
#[test]
fn small_differences_and_many_classes_are_solved() {
    let problem = |capacities: &[u32], options: &[&[(usize, u32, f64)]]| Problem {
        groups: Vec::new(),
        id: String::new(),
        classes: (0..)
            .zip(capacities)
            .map(|(index, capacity)| Class {
                name: format!("k{index}"),
                capacity: *capacity,
            })
            .collect(),
        tasks: (0..)
            .zip(options)
            .map(|(index, options)| Task {
                name: format!("t{index}"),
                options: options
                    .iter()
                    .map(|&(class, count, value)| Choice {
                        class,
                        count,
                        value,
                    })
                    .collect(),
                none: 0.0,
                current: None,
                fixed: false,
            })
            .collect(),
    };
    // In `tiny`, all values round to 0. In `nearly`, all values are nearly whole numbers.
    let tiny = problem(&[4], &[&[(0, 1, 4e-6)], &[(0, 4, 9e-6)]]);
    let nearly = [(0, 3, 2.000001), (0, 4, 3.000001)];
    let nearly = problem(&[6], &[&nearly, &[(0, 1, 2.000001), (0, 3, 3.000003)]]);
    // With one class, the optimum is 12: both tasks hold 50,000 nodes. The slacks of nine classes do not fit into one
    // packed number.
    let two = [(0, 50_000, 6.0), (0, 50_001, 10.0)];
    let pair = problem(&[100_000], &[&two, &two]);
    let in_class = |class: usize| two.map(|(_, count, value)| (class, count, value));
    let coupled = |class: usize| {
        let mut options = in_class(class).to_vec();
        options.extend((class < 8).then_some((class + 1, 1, 0.001)));
        options
    };
    let options: Vec<_> = (0..9)
        .flat_map(|class| [coupled(class), in_class(class).to_vec()])
        .collect();
    let options: Vec<&[_]> = options.iter().map(Vec::as_slice).collect();
    let many = problem(&[100_000; 9], &options);
    for (problem, best) in [(tiny, 9e-6), (nearly, 5.000004), (pair, 12.0)] {
        let answer = solve(&problem);
        assert_eq!(check(&problem, &answer), Ok(()));
        assert_eq!(answer.status, Status::Optimal, "{answer:?}");
        let found = answer.objective.unwrap_or(f64::NAN);
        assert!(
            (found - best).abs() <= 1e-9 * best,
            "{found}, expected {best}"
        );
    }
    // The solver may fail to find the best plan of `many`. If so, the answer must not claim that its plan is optimal.
    let answer = solve(&many);
    assert_eq!(check(&many, &answer), Ok(()));
    assert!(answer.bound >= Some(108.0), "{answer:?}");
}

#[test]
fn bounds_hold_for_any_gap() {
    let text = r#"{"classes": [{"name": "k", "capacity": 4}], "tasks": [
        {"name": "a", "options": [[0, 2, 11], [0, 3, 11]]}, {"name": "b", "options": [[0, 3, 8]]},
        {"name": "c", "options": [[0, 2, 18], [0, 3, 25]]}
    ]}"#;
    let problem: Problem = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    let limits = Limits {
        gap: 0.2,
        ..Limits::default()
    };
    let answer = Exact::default()
        .solve(&problem, &limits)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(answer.bound >= Some(29.0), "{answer:?}");
}

/// Solves a problem of many classes that share no task, which the solver must split by class.
#[test]
fn classes_that_share_no_task_are_solved_apart() {
    let classes = (0..200).map(|index| Class {
        name: format!("k{index}"),
        capacity: 3,
    });
    let options = |class| {
        [(1, 2.0), (2, 3.5), (3, 4.0)]
            .map(|(count, value)| Choice {
                class,
                count,
                value,
            })
            .to_vec()
    };
    let tasks = (0..400).map(|index| Task {
        name: format!("t{index}"),
        options: options(index / 2),
        none: 0.0,
        current: None,
        fixed: false,
    });
    let problem = Problem {
        groups: Vec::new(),
        id: String::new(),
        classes: classes.collect(),
        tasks: tasks.collect(),
    };
    let answer = solve(&problem);
    assert_eq!(
        (answer.status, answer.objective),
        (Status::Optimal, Some(200.0 * 5.5))
    );
    assert_eq!(check(&problem, &answer), Ok(()));
    assert_eq!(answer.prices.len(), 200);
}

#[test]
fn milp_solvers_find_the_stated_optima() {
    for file in ["problems", "smooth"] {
        let small = |(problem, ..): &(Problem, _, _)| problem.tasks.len() <= 30;
        for (problem, optimum, _) in references(file).into_iter().filter(small) {
            for answer in solve_by_milp(&problem) {
                assert_eq!(answer.status, Status::Optimal, "{file} {}", problem.id);
                assert!(
                    answer
                        .objective
                        .is_some_and(|found| is_near(found, optimum)),
                    "{file} {}",
                    problem.id
                );
                assert_eq!(check(&problem, &answer), Ok(()));
            }
        }
    }
}

#[test]
fn the_checker_names_each_violation() {
    let text = r#"{"classes": [{"name": "k", "capacity": 3}], "tasks": [
        {"name": "a", "options": [[0, 2, 5], [0, 3, 6]], "fixed": true, "current": [0, 2]},
        {"name": "b", "options": [[0, 1, 1], [0, 2, 4]]}
    ]}"#;
    let problem: Problem = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    let right = solve(&problem);
    assert_eq!(
        (right.objective, check(&problem, &right)),
        (Some(6.0), Ok(()))
    );
    let held = |counts: [u32; 2]| {
        let hold = |count| (count > 0).then_some(Held { class: 0, count });
        Some(counts.map(hold).to_vec())
    };
    let with = |plan, objective, bound| Answer {
        plan,
        objective: Some(objective),
        bound: Some(bound),
        ..right.clone()
    };
    let class = || "k".to_owned();
    for (answer, expected) in [
        (with(None, 6.0, 6.0), Violation::Plan(Status::Optimal)),
        (with(Some(vec![None]), 6.0, 6.0), Violation::Length(1)),
        (
            with(held([3, 0]), 6.0, 6.0),
            Violation::Moved("a".to_owned()),
        ),
        (
            with(held([2, 2]), 9.0, 9.0),
            Violation::Capacity(class(), 4, 3),
        ),
        (
            with(held([2, 3]), 5.0, 5.0),
            Violation::Option("b".to_owned()),
        ),
        (with(held([2, 1]), 7.0, 7.0), Violation::Objective(7.0, 6.0)),
        (with(held([2, 1]), 6.0, 5.0), Violation::Bound(5.0, 6.0)),
        (with(held([2, 1]), 6.0, 9.0), Violation::Gap(0.5)),
    ] {
        let found = check(&problem, &answer).err().unwrap_or_default();
        assert!(
            found.contains(&expected),
            "{found:?}, expected {expected:?}"
        );
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    #[test]
    fn small_problems_match_brute_force(problem in problem(5, 6)) {
        prop_assert_eq!(problem.validate(), Vec::<String>::new());
        let mut free = problem.classes.iter().map(|class| class.capacity).collect();
        let best = brute_force(&problem, 0, &mut free);
        let answer = solve(&problem);
        prop_assert_eq!(answer.plan.is_some(), best.is_some());
        if let (Some(plan), Some(best), Some(found)) = (&answer.plan, best, answer.objective) {
            prop_assert!(is_valid(&problem, plan));
            prop_assert_eq!(check(&problem, &answer), Ok(()));
            prop_assert_eq!(answer.status, Status::Optimal);
            prop_assert!(is_near(found, best), "{found}, expected {best}");
        } else {
            prop_assert_eq!(answer.status, Status::Infeasible);
        }
    }

    #[test]
    fn larger_problems_match_dynamic_programming(problem in problem(20, 12)) {
        let tasks = problem.tasks.iter().cloned();
        let tasks = tasks.map(|task| Task { fixed: false, ..task });
        let problem = Problem { tasks: tasks.collect(), ..problem };
        let answer = solve(&problem);
        prop_assert_eq!(answer.status, Status::Optimal);
        let best = dynamic_program(&problem);
        prop_assert!(answer.objective.is_some_and(|found| is_near(found, best)), "{answer:?}, expected {best}");
        prop_assert!(answer.bound.is_some_and(|bound| bound >= best - 1e-9 * best.abs().max(1.0)));
    }
}

/// All plans that respect the options, the capacities and the fixed tasks.
fn plans(problem: &Problem) -> Vec<Vec<Option<Held>>> {
    let mut plans = vec![Vec::new()];
    for task in &problem.tasks {
        let options = task.options.iter().map(|option| Some(option.held()));
        let choices: Vec<Option<Held>> = options.chain([None]).collect();
        plans = plans
            .into_iter()
            .flat_map(|plan: Vec<Option<Held>>| {
                choices.iter().map(move |held| {
                    let mut longer = plan.clone();
                    longer.push(*held);
                    longer
                })
            })
            .collect();
    }
    plans.retain(|plan| is_valid(problem, plan));
    plans
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(256, 4))]

    #[test]
    fn groups_hold_what_their_limits_allow(
        problem in problem(4, 5),
        all in (prop::collection::btree_set(0usize..4, 0..4), 0u32..7),
        least in prop::option::of(0u32..5),
        each in (prop::collection::btree_set(0usize..4, 0..4), 0u32..5),
    ) {
        let known = problem.tasks.len();
        let names = |of: &std::collections::BTreeSet<usize>| -> Vec<String> {
            of.iter().filter(|task| **task < known).map(|task| format!("t{task}")).collect()
        };
        let by_class = BTreeMap::from([("k0".to_owned(), each.1)]);
        let groups = vec![
            Group { name: "all".into(), tasks: names(&all.0), min_total: None, max_total: PerClass::All(all.1) },
            Group { name: "each".into(), tasks: names(&each.0), min_total: least, max_total: PerClass::Each(by_class) },
        ];
        let grouped = Problem { groups, ..problem };
        let held = |plan: &[Option<Held>], of: &std::collections::BTreeSet<usize>, class: Option<usize>| -> u32 {
            let held = of.iter().filter_map(|task| plan.get(*task).copied().flatten());
            held.filter(|held| class.is_none_or(|class| class == held.class)).map(|held| held.count).sum()
        };
        let best = plans(&grouped)
            .into_iter()
            .filter(|plan| held(plan, &all.0, None) <= all.1 && held(plan, &each.0, Some(0)) <= each.1)
            .filter(|plan| held(plan, &each.0, None) >= least.unwrap_or(0))
            .filter_map(|plan| grouped.objective(&plan))
            .reduce(f64::max);
        for answer in solve_by_milp(&grouped) {
            prop_assert_eq!(check(&grouped, &answer), Ok(()));
            match best {
                Some(best) => prop_assert!(is_near(answer.objective.unwrap_or(f64::NAN), best), "{answer:?}, expected {best}"),
                None => prop_assert_eq!(answer.status, Status::Infeasible),
            }
        }
        prop_assert!(matches!(Exact::default().solve(&grouped, &Limits::default()), Err(SolveError::Unfit(_))));
    }
}

/// The best value of `count` equal tasks that share `nodes` nodes of a class. Each earns `rate` times its number of
/// nodes to the power of 0.8, so an even split is best.
fn shared_evenly(count: u32, nodes: u32, rate: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let value = |nodes: u32| rate * f64::from(nodes).powf(0.8);
    let more = nodes % count;
    f64::from(more) * value(nodes / count + 1) + f64::from(count - more) * value(nodes / count)
}

// The expected objective is the best over all numbers of tasks in each class.
#[test]
fn a_thousand_equal_tasks_are_proven_optimal() {
    for (tasks, nodes) in [(1_000, [700, 700]), (1_000, [500, 90]), (7, [50, 20])] {
        let rates = [100.0, 240.0];
        let option = |class: usize, count: u32| Choice {
            class,
            count,
            value: rates[class] * f64::from(count).powf(0.8),
        };
        let options: Vec<Choice> = (0..2)
            .flat_map(|class| (1..=32).map(move |count| option(class, count)))
            .collect();
        let task = |index: u32| Task {
            name: format!("t{index}"),
            options: options.clone(),
            none: 0.0,
            current: None,
            fixed: false,
        };
        let class = |index: usize| Class {
            name: format!("k{index}"),
            capacity: nodes[index],
        };
        let problem = Problem {
            id: String::new(),
            classes: vec![class(0), class(1)],
            tasks: (0..tasks).map(task).collect(),
            groups: Vec::new(),
        };
        let best = (0..=tasks.min(nodes[0]))
            .map(|first| {
                let second = (tasks - first).min(nodes[1]);
                shared_evenly(first, nodes[0], rates[0]) + shared_evenly(second, nodes[1], rates[1])
            })
            .fold(0.0, f64::max);
        let answer = Exact::default()
            .solve(&problem, &Limits::default())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(check(&problem, &answer), Ok(()));
        assert_eq!(answer.status, Status::Optimal);
        let objective = answer.objective.unwrap_or_default();
        assert!(is_near(objective, best), "{objective}, expected {best}");
        // Without skipping equal tasks, the search visits millions of states.
        assert!(answer.work.states < 100_000, "{:?}", answer.work);
    }
}

#[test]
fn faults_of_a_problem_are_named() {
    let text = r#"{"classes": [{"name": "k", "capacity": 3}, {"name": "k", "capacity": 1}], "tasks": [
        {"name": "a", "options": [[0, 1, 2], [0, 1, 3], [2, 1, 1], [0, 0, 1]]},
        {"name": "a", "options": [[0, 3, 1e99]], "fixed": true, "current": [1, 1]}
    ]}"#;
    let problem: Problem = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        problem.validate(),
        [
            "class k: duplicate name, expected unique names",
            "task a: duplicate name, expected unique names",
            "task a: option 3 names class 2, expected 0 to 1",
            "task a: option 4 has 0 nodes, expected at least 1",
            "task a: duplicate option with count 1 in class 0",
            "task a: option 1 is worth 1e99, expected -1e15 to 1e15",
            "task a: the task is fixed, but its current nodes are not among its options",
        ]
    );
}

#[test]
fn options_that_are_not_three_numbers_are_refused() {
    for option in ["[0, 1]", "[0.5, 1, 1]", "[0, -1, 1]", "[0, 5e9, 1]", "[]"] {
        let text =
            format!(r#"{{"classes": [], "tasks": [{{"name": "a", "options": [{option}]}}]}}"#);
        let error = serde_json::from_str::<Problem>(&text)
            .map_or_else(|error| error.to_string(), |_| String::new());
        assert!(
            error.contains("expected [class, count, value]"),
            "{option}: {error}"
        );
    }
}

#[test]
fn fixed_tasks_that_need_too_many_nodes_leave_no_plan() {
    let held = Held { class: 0, count: 2 };
    let task = |name: &str| Task {
        name: name.to_owned(),
        options: vec![Choice {
            class: 0,
            count: 2,
            value: 1.0,
        }],
        none: 0.0,
        current: Some(held),
        fixed: true,
    };
    let class = Class {
        name: "k".to_owned(),
        capacity: 3,
    };
    let problem = Problem {
        groups: Vec::new(),
        id: "p".to_owned(),
        classes: vec![class],
        tasks: vec![task("a"), task("b")],
    };
    assert_eq!(solve(&problem).status, Status::Infeasible);
}
