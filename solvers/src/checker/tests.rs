//! Answers that the checker must accept, and answers that it must reject.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::{Fairness, GroupLimit, Rates};

fn problem() -> Problem {
    let task = |name: &str, current| Task {
        name: name.into(),
        min_nodes: 2,
        max_nodes: 6,
        rescale_up: 10.0,
        rescale_down: 5.0,
        curve_nodes: vec![0, 8].into(),
        curve_objective: vec![0.0, 80.0].into(),
        weight: 1.0,
        current,
    };
    Problem {
        id: "p".into(),
        nodes: 8,
        t_fwd: 100.0,
        tasks: vec![task("a", 2), task("b", 0)],
        groups: vec![],
        goal: Goal::Total,
    }
}

fn answer(counts: Vec<u32>, objective: f64) -> Allocation {
    Allocation {
        status: Status::Feasible,
        objective: Some(objective),
        bound: None,
        counts: Some(counts),
        fairness: None,
        failure: None,
    }
}

fn faults(problem: &Problem, answer: &Allocation) -> Vec<Violation> {
    check(problem, answer, BigM::Corrected)
        .err()
        .unwrap_or_default()
}

#[test]
fn a_sound_plan_passes() {
    assert_eq!(faults(&problem(), &answer(vec![2, 6], 8000.0)), vec![]);
    assert_eq!(faults(&problem(), &answer(vec![0, 6], 5900.0)), vec![]);
}

#[test]
fn a_plan_alone_is_checked_by_its_constraints() {
    let mut p = problem();
    let broken = |p: &Problem, counts: &[u32]| {
        let found = p.check(counts, BigM::Corrected).err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(broken(&p, &[2, 6]), [""; 0]);
    assert_eq!(
        broken(&p, &[2]),
        ["1 counts, expected one for each of 2 tasks"]
    );
    let expected = [
        "9 nodes used, expected at most 8 (the idle nodes)",
        "task b has 7 nodes, expected 0 or 2 to 6",
    ];
    assert_eq!(broken(&p, &[2, 7]), expected);
    p.groups = vec![GroupLimit {
        name: "g".into(),
        tasks: vec!["b".into()],
        min_total: Some(3),
        max_total: None,
    }];
    assert_eq!(broken(&p, &[2, 2]).len(), 1);
    assert!(broken(&p, &[2, 2])[0].starts_with("group g has 2 nodes"));
    assert_eq!(p.check(&[8, 0], BigM::Paper).unwrap_err().len(), 3);
}

// Deliberately broken answers: each must be rejected for its own reason.
#[test]
fn broken_plans_are_rejected() {
    let p = problem();
    use Violation::*;
    assert!(matches!(
        faults(&p, &answer(vec![4, 6], 9800.0))[..],
        [OverCapacity { used: 10, .. }]
    ));
    assert!(matches!(
        faults(&p, &answer(vec![2, 1], 3000.0))[..],
        [OutOfBounds { count: 1, .. }]
    ));
    assert!(matches!(
        faults(&p, &answer(vec![0, 7], 6900.0))[..],
        [OutOfBounds { count: 7, .. }]
    ));
    assert!(matches!(
        faults(&p, &answer(vec![2], 2000.0))[..],
        [WrongLength { .. }]
    ));
    assert!(matches!(
        faults(&p, &answer(vec![2, 6], 8000.1))[..],
        [WrongObjective { .. }]
    ));
    let low = Allocation {
        bound: Some(7000.0),
        ..answer(vec![2, 6], 8000.0)
    };
    assert!(matches!(faults(&p, &low)[..], [BoundBelowObjective { .. }]));
    let none = Allocation::without_plan(Status::Optimal);
    assert!(matches!(faults(&p, &none)[..], [PlanMismatch { .. }]));
    let some = Allocation {
        status: Status::Infeasible,
        ..answer(vec![2, 6], 8000.0)
    };
    assert!(matches!(faults(&p, &some)[..], [PlanMismatch { .. }]));
}

#[test]
fn a_bound_below_a_plan_of_one_change_is_rejected() {
    let p = problem();
    let claim = |counts, objective, bound| Allocation {
        status: Status::Optimal,
        bound: Some(bound),
        ..answer(counts, objective)
    };
    // Two nodes are free, and either task could take them.
    let found = faults(&p, &claim(vec![2, 4], 6000.0, 6000.0));
    assert!(
        matches!(&found[..], [Violation::BoundBelowPlan { .. }]),
        "{found:?}"
    );
    // Task a gave up its two nodes, and no task took them.
    let moved = faults(&p, &claim(vec![0, 6], 5900.0, 5900.0));
    assert!(
        matches!(&moved[..], [Violation::BoundBelowPlan { task, count: 2, .. }] if task == "a"),
        "{moved:?}"
    );
    // The optimum itself is a valid bound, and so is any bound above the optimum.
    assert_eq!(faults(&p, &claim(vec![2, 6], 8000.0, 8000.0)), vec![]);
    assert_eq!(faults(&p, &claim(vec![2, 4], 6000.0, 8000.0)), vec![]);
}

fn fair_problem() -> Problem {
    Problem {
        goal: Goal::MaxMin,
        ..problem()
    }
}

fn fair_answer(counts: [u32; 2], objective: f64, running: u32, least_share: f64) -> Allocation {
    Allocation {
        status: Status::Optimal,
        fairness: Some(Fairness {
            running,
            least_share: Some(least_share),
        }),
        ..answer(counts.to_vec(), objective)
    }
}

// Derived by formula: the best rate is 60 on 6 nodes, so 4 nodes earn two thirds of it, less
// the 200 that task a loses to growing.
#[test]
fn fairness_is_checked() {
    let p = fair_problem();
    let least = (4000.0 - 200.0) / 6000.0;
    let sound = fair_answer([4, 4], 7800.0, 2, least);
    assert_eq!(faults(&p, &sound), vec![]);
    for wrong in [
        fair_answer([4, 4], 7800.0, 2, 0.5),
        fair_answer([4, 4], 7800.0, 1, least),
        answer(vec![4, 4], 7800.0),
    ] {
        let found = faults(&p, &wrong);
        assert!(matches!(found[..], [Violation::WrongFairness { .. }]));
    }
    let needless = faults(&problem(), &sound);
    assert!(matches!(needless[..], [Violation::WrongFairness { .. }]));
}

#[test]
fn false_claims_of_fairness_are_refuted() {
    let p = fair_problem();
    let too_few = fair_answer([0, 6], 5900.0, 1, 1.0);
    assert!(matches!(
        faults(&p, &too_few)[..],
        [Violation::TooFewRun {
            running: 1,
            possible: 2
        }]
    ));
    let unfair = fair_answer([2, 6], 8000.0, 2, 1.0 / 3.0);
    assert!(matches!(
        faults(&p, &unfair)[..],
        [Violation::LeastShareTooLow { running: 2, .. }]
    ));
    // The status Feasible claims nothing, so there is nothing to refute.
    for modest in [too_few, unfair] {
        let modest = Allocation {
            status: Status::Feasible,
            ..modest
        };
        assert_eq!(faults(&p, &modest), vec![]);
    }
}

#[test]
fn caps_and_groups_are_checked() {
    let mut p = problem();
    let plan = answer(vec![2, 6], 8000.0);
    let over = check(&p, &plan, BigM::Paper).err().unwrap_or_default();
    assert!(matches!(
        over[..],
        [Violation::OverChangeCap {
            change: 6,
            cap: 4,
            ..
        }]
    ));
    p.groups = vec![GroupLimit {
        name: "g".into(),
        tasks: vec!["b".into()],
        min_total: None,
        max_total: Some(5),
    }];
    assert!(matches!(
        faults(&p, &plan)[..],
        [Violation::GroupLimit { total: 6, .. }]
    ));
}

/// The rate on a curve, found by a scan of its segments.
fn rate_by_scan(task: &Task, count: u32) -> f64 {
    let (nodes, values) = (&task.curve_nodes, &task.curve_objective);
    for i in 1..nodes.len() {
        if count <= nodes[i] {
            let share = f64::from(count - nodes[i - 1]) / f64::from(nodes[i] - nodes[i - 1]);
            return task.weight * (values[i - 1] * (1.0 - share) + values[i] * share);
        }
    }
    task.weight * values[values.len() - 1]
}

/// Tasks with curves of any shape, some of which cannot run.
fn any_task() -> impl Strategy<Value = Task> {
    let steps = prop::collection::vec((1u32..7, 0.0..50.0), 0..9);
    let bounds = (1u32..9, 0u32..30, 0u32..25);
    let numbers = (0.0..40.0, 0.0..40.0, prop_oneof![Just(1.0), 0.1..9.0]);
    (steps, bounds, numbers).prop_map(|(steps, (min_nodes, span, current), (up, down, weight))| {
        let (mut nodes, mut values) = (vec![0], vec![0.0]);
        for (width, value) in steps {
            nodes.push(nodes[nodes.len() - 1] + width);
            values.push(value);
        }
        Task {
            name: "t".into(),
            min_nodes,
            max_nodes: min_nodes + span,
            rescale_up: up,
            rescale_down: down,
            curve_nodes: nodes.into(),
            curve_objective: values.into(),
            weight,
            current,
        }
    })
}

proptest! {
    #![proptest_config(gleaner_testing::cases(1_000))]

    #[test]
    fn bisection_and_skipping_find_the_same_as_a_scan(
        task in any_task(),
        t_fwd in 1.0..100.0,
        level in -1.0..1.0,
        within in 0u32..60,
    ) {
        let (min, max) = recount::bounds(&task);
        let allowed = || min..=max;
        for count in 0..60 {
            let (found, scanned) = (recount::rate(&task, count), rate_by_scan(&task, count));
            prop_assert!((found - scanned).abs() <= 1e-9 * scanned.abs());
        }
        let best = allowed().map(|n| rate_by_scan(&task, n)).fold(0.0, f64::max);
        prop_assert!((recount::best_rate(&task) - best).abs() <= 1e-9 * best);

        let share = |n| fair::share(&task, t_fwd, best, n);
        let fewest = allowed().find(|&n| share(n) > level);
        prop_assert_eq!(fair::fewest_above(&task, t_fwd, best, level), fewest);

        let net = |n| term(&task, t_fwd, n).net();
        let most = std::iter::once(0).chain(allowed().filter(|&n| n <= within)).map(net);
        let gain = most.fold(0.0f64, |gain, other| gain.max(other - net(task.current)));
        let (count, found) = best_change(&task, t_fwd, task.current, within);
        prop_assert!((found - gain).abs() <= 1e-9 * (net(count).abs() + gain + 1.0));
    }
}

// If a check took time quadratic in the number of curve points, this test would take an hour.
#[test]
fn curves_of_many_points_are_checked_too() {
    const POINTS: u32 = 50_000;
    const TASKS: u32 = 100;
    let nodes: Arc<[u32]> = (0..POINTS).collect();
    let rates: Rates = nodes.iter().map(|&n| f64::from(n).sqrt()).collect();
    let task = |i| Task {
        name: format!("t{i}"),
        min_nodes: 1,
        max_nodes: POINTS,
        rescale_up: 10.0,
        rescale_down: 5.0,
        curve_nodes: Arc::clone(&nodes),
        curve_objective: rates.clone(),
        weight: 1.0,
        current: 7,
    };
    let tasks: Vec<Task> = (0..TASKS).map(task).collect();
    for goal in [Goal::Total, Goal::MaxMin] {
        let problem = Problem {
            id: "large".into(),
            nodes: TASKS * POINTS,
            t_fwd: 1000.0,
            tasks: tasks.clone(),
            groups: vec![],
            goal,
        };
        let counts = vec![POINTS - 1; tasks.len()];
        let plan = Allocation::with_plan(&problem, Status::Optimal, counts, None);
        let proven = Allocation {
            bound: plan.objective,
            ..plan
        };
        assert_eq!(faults(&problem, &proven), vec![]);
    }
}
