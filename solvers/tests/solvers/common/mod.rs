//! Helpers shared by the crate's integration tests.
#![allow(dead_code, reason = "builds without libraries leave tests out")]

pub mod extreme;

use gleaner_solvers::{Allocation, BigM, Goal, Merit, Problem, Task, check};
use proptest::prelude::*;

/// A reference problem with the optima that the original system found.
#[derive(Debug, serde::Deserialize)]
pub struct Reference {
    #[serde(flatten)]
    pub problem: Problem,
    pub optimum: f64,
    pub paper_optimum_dp: f64,
}

/// The 400 reference problems; `None`, with a message on stderr, if the data is missing.
pub fn reference_problems() -> Option<Vec<Reference>> {
    let path = gleaner_testing::shared("bftrainer/problems.jsonl")?;
    let text = std::fs::read_to_string(path).unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// Asserts that `answer` passes the checker and reaches `optimum` within a relative tolerance of 1e-6.
pub fn assert_reaches(problem: &Problem, answer: &Allocation, big_m: BigM, optimum: f64) {
    if let Err(violations) = check(problem, answer, big_m) {
        panic!("{}: {violations:?}", problem.id);
    }
    let found = answer.objective.unwrap();
    assert!(
        (found - optimum).abs() <= 1e-6 * optimum.abs().max(1e-9),
        "{}: objective {found}, expected {optimum}",
        problem.id
    );
}

/// Curves of any shape: concave, convex, falling, with plateaus and noise.
pub fn curve() -> impl Strategy<Value = (Vec<u32>, Vec<f64>)> {
    let point = (1u32..9, prop_oneof![0.0..100.0, (0..5).prop_map(f64::from)]);
    (
        prop_oneof![Just(0.0), 0.0..5.0],
        prop::collection::vec(point, 1..8),
        prop::bool::ANY,
    )
        .prop_map(|(at_zero, steps, cumulative)| {
            let (mut nodes, mut values) = (vec![0], vec![at_zero]);
            for (width, value) in steps {
                let last = *values.last().unwrap();
                nodes.push(nodes.last().unwrap() + width);
                values.push(if cumulative { last + value } else { value });
            }
            (nodes, values)
        })
}

/// Tasks with any bounds and costs, with curves of any shape.
pub fn task() -> impl Strategy<Value = Task> {
    let cost = || prop_oneof![Just(0.0), 0.0..40.0];
    let weight = prop_oneof![Just(1.0), 0.1..10.0];
    let counts = (1u32..6, 0u32..40, 0u32..20);
    (curve(), counts, cost(), cost(), weight).prop_map(
        |((curve_nodes, curve_objective), counts, rescale_up, rescale_down, weight)| {
            let (min_nodes, span, current) = counts;
            Task {
                name: String::new(),
                min_nodes,
                max_nodes: min_nodes + span,
                rescale_up,
                rescale_down,
                current: current.min(*curve_nodes.last().unwrap()),
                curve_nodes: curve_nodes.into(),
                curve_objective: curve_objective.into(),
                weight,
            }
        },
    )
}

/// Problems with up to 21 tasks, many of which are alike.
pub fn problem() -> impl Strategy<Value = Problem> {
    (
        prop::collection::vec(task(), 0..8),
        0u32..60,
        prop_oneof![Just(10.0), 0.5..600.0],
        // The number of copies of each task. Identical tasks lead to ties and degenerate prices.
        1usize..4,
    )
        .prop_map(|(mut tasks, nodes, t_fwd, copies)| {
            tasks = tasks.iter().flat_map(|t| vec![t.clone(); copies]).collect();
            for (i, task) in tasks.iter_mut().enumerate() {
                task.name = format!("t{i}");
            }
            Problem {
                id: "random".into(),
                nodes,
                t_fwd,
                tasks,
                groups: vec![],
                goal: Goal::Total,
            }
        })
}

/// Tasks for which the relaxation's bound is loose: large minimums, convex curves, long linear
/// pieces.
pub fn rugged(tasks: usize, nodes: u32, seed: u32) -> Problem {
    let mut state = seed;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let tasks = (0..tasks)
        .map(|i| {
            let min_nodes = 1 + random(nodes / 3);
            let last = min_nodes + 1 + random(nodes);
            let mid = min_nodes + (last - min_nodes) / 2;
            let mut curve_nodes = vec![0, min_nodes, mid, last];
            curve_nodes.dedup();
            let curve_objective: Vec<f64> = curve_nodes
                .iter()
                .map(|&n| f64::from(n) * (1.0 + f64::from(random(50)) / 100.0))
                .collect();
            Task {
                name: format!("t{i}"),
                min_nodes,
                max_nodes: last,
                rescale_up: f64::from(random(60)),
                rescale_down: f64::from(random(30)),
                curve_nodes: curve_nodes.into(),
                curve_objective: curve_objective.into(),
                weight: 1.0,
                current: 0,
            }
        })
        .collect();
    Problem {
        id: format!("rugged-{seed}"),
        nodes,
        t_fwd: 60.0,
        tasks,
        groups: vec![],
        goal: Goal::Total,
    }
}

/// The greatest merit of any plan, and a plan with this merit, found by trying all plans; `None` if
/// there is no plan.
pub fn best_of_all(problem: &Problem, big_m: BigM) -> Option<(Merit, Vec<u32>)> {
    let mut best = None;
    let mut counts = vec![0; problem.tasks.len()];
    try_all(problem, big_m, 0, problem.nodes, &mut counts, &mut best);
    best
}

fn try_all(
    problem: &Problem,
    big_m: BigM,
    task: usize,
    left: u32,
    counts: &mut Vec<u32>,
    best: &mut Option<(Merit, Vec<u32>)>,
) {
    let Some(own) = problem.tasks.get(task) else {
        let merit = problem.merit(counts);
        if best.as_ref().is_none_or(|(best, _)| merit > *best) {
            *best = Some((merit, counts.clone()));
        }
        return;
    };
    let change = big_m.change_cap(problem.nodes);
    if big_m.shuts_out(problem.nodes, own.min_nodes) {
        return;
    }
    for count in (0..=left).filter(|&n| own.allows(n) && n.abs_diff(own.current) <= change) {
        counts[task] = count;
        try_all(problem, big_m, task + 1, left - count, counts, best);
    }
}
