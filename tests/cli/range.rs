//! Tests solvers on problems with numbers of any size: no solver aborts, panics, or returns a plan without an
//! objective.
//!
//! CBC ends its process if it does not accept a coefficient. The solvers therefore run in separate processes.

use std::fs;
use std::path::Path;

use gleaner_solvers::{Formulation, Goal, GroupLimit, Problem, SolverKind, SolverSpec, synthetic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::support::{Run, gleaner, samples};

/// Rates with which some computations may fail, and some harmless rates.
const RATES: [f64; 12] = [
    0.0,
    5e-324,
    1e-310,
    1e-100,
    1e-30,
    1.0,
    1e9,
    1e24,
    1e26,
    1e100,
    1e300,
    f64::MAX,
];
const SECONDS: [f64; 9] = [0.0, 1e-300, 1e-6, 1.0, 60.0, 1e12, 1e15, 1e25, 1e308];
const COUNTS: [u32; 7] = [0, 1, 2, 5, 1_000, 1 << 31, u32::MAX];

fn pick<T: Copy>(rng: &mut ChaCha8Rng, values: &[T]) -> T {
    values[rng.random_range(0..values.len())]
}

/// A well-formed problem. If `wild` is true, its numbers come from the lists above; otherwise, they are moderate.
fn problem(seed: u64, wild: bool) -> Problem {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let rng = &mut rng;
    let (rates, seconds) = if wild {
        (&RATES[..], &SECONDS[..])
    } else {
        (&RATES[3..10], &SECONDS[2..6])
    };
    let mut problem = synthetic::problem(rng.random_range(0..5), rng.random_range(0..30), seed);
    problem.id = seed.to_string();
    problem.t_fwd = pick(rng, seconds);
    if rng.random_bool(0.1) {
        problem.nodes = pick(rng, &COUNTS);
    }
    if rng.random_bool(0.4) {
        problem.goal = Goal::MaxMin;
    }
    for task in &mut problem.tasks {
        if rng.random_bool(0.7) {
            let rate = |_: &f64| pick(rng, rates);
            task.curve_objective = task.curve_objective.iter().map(rate).collect();
        }
        if rng.random_bool(0.5) {
            task.rescale_up = pick(rng, seconds);
            task.rescale_down = pick(rng, seconds);
        }
        if rng.random_bool(0.1) {
            task.current = pick(rng, &COUNTS);
        }
        if rng.random_bool(0.1) {
            let last = task.curve_nodes.len() - 1;
            let mut nodes = task.curve_nodes.to_vec();
            nodes[last] = u32::MAX;
            task.curve_nodes = nodes.into();
            task.min_nodes = pick(rng, &COUNTS[1..]);
            task.max_nodes = u32::MAX;
        }
    }
    if rng.random_bool(0.2) && !problem.tasks.is_empty() {
        problem.groups.push(GroupLimit {
            name: "g".into(),
            tasks: vec![problem.tasks[0].name.clone()],
            min_total: rng.random_bool(0.5).then(|| pick(rng, &COUNTS)),
            max_total: None,
        });
    }
    problem
}

/// The solvers of this build, each with the arguments that select it.
fn solvers() -> Vec<(SolverSpec, String)> {
    let kinds = [
        (SolverKind::Auto, "auto"),
        (SolverKind::Exact, "exact"),
        (SolverKind::EqualShare, "equal-share"),
        (SolverKind::Highs, "highs"),
        (SolverKind::Cbc, "cbc"),
    ];
    let mut out = Vec::new();
    for (kind, name) in kinds {
        let spec = SolverSpec::new(kind);
        if spec.build().is_err() {
            continue;
        }
        out.push((spec, format!("--solver {name}")));
        if matches!(kind, SolverKind::Highs | SolverKind::Cbc) {
            let formulation = Formulation::Paper;
            let paper = SolverSpec {
                formulation,
                ..spec
            };
            out.push((paper, format!("--solver {name} --formulation paper")));
        }
    }
    out
}

/// Solves problems with one solver.
fn solve(at: &Path, problems: &[&Problem], arguments: &str) -> Run {
    let line = |problem: &&Problem| serde_json::to_string(problem).unwrap() + "\n";
    let text: String = problems.iter().map(line).collect();
    fs::write(at.join("extreme.jsonl"), text).unwrap();
    let line = format!("solve extreme.jsonl {arguments} --time-limit 1 --check");
    gleaner(at, &line)
}

fn is_finite(value: &Value, field: &str) -> bool {
    value[field].as_f64().is_some_and(f64::is_finite)
}

#[test]
fn sound_problems_of_any_numbers_are_answered_by_every_solver() {
    let directory = samples();
    let at = directory.path();
    let problems: Vec<Problem> = (0..100).map(|seed| problem(seed, seed % 2 == 0)).collect();
    let sound = |p: &&Problem| p.validate().is_empty();
    let sound: Vec<&Problem> = problems.iter().filter(sound).collect();
    assert!(sound.len() > 15, "{} problems to solve", sound.len());
    for (spec, arguments) in solvers() {
        let taken = |p: &&&Problem| spec.accepts(p).is_ok();
        let taken: Vec<&Problem> = sound.iter().filter(taken).copied().collect();
        let run = solve(at, &taken, &arguments).expect(0);
        assert_eq!(run.out.lines().count(), taken.len(), "{arguments}");
        for line in run.out.lines() {
            let answer: Value = serde_json::from_str(line).unwrap();
            if answer["counts"].is_null() {
                assert!(answer["objective"].is_null(), "{arguments}: {line}");
                continue;
            }
            assert!(is_finite(&answer, "objective"), "{arguments}: {line}");
            // JSON represents both a missing bound and a bound that is NaN as null. A proof of optimality needs a
            // finite bound.
            let proves = answer["status"] == "optimal";
            assert!(
                !proves || is_finite(&answer, "bound"),
                "{arguments}: {line}"
            );
            assert!(!proves || is_finite(&answer, "gap"), "{arguments}: {line}");
        }
    }
}

#[test]
fn a_cost_that_exceeds_the_window_is_invalid_data_where_tasks_are_read() {
    let directory = samples();
    let at = directory.path();
    let tasks = fs::read_to_string(at.join("tasks.toml")).unwrap();
    let dear = tasks.replacen("rescale_up = ", "rescale_up = 1e11 # ", 1);
    fs::write(at.join("dear.toml"), dear).unwrap();
    fs::write(
        at.join("plan.toml"),
        "[replay]\nevents = 'idle.csv'\ntasks = 'dear.toml'\nt_fwd = [10, 1e9]\n",
    )
    .unwrap();
    let words = "dear.toml, task 1 (\"task0000\"), rescale_up: found 1e11 s, expected at most 1e6 \
                 times the window (--t-fwd 10)";
    for line in [
        "replay --events idle.csv --tasks dear.toml --t-fwd 10",
        "compare --events idle.csv --tasks dear.toml --t-fwd 10",
        "sweep plan.toml --dry-run",
    ] {
        gleaner(at, line).expect(3).says(&[words]);
    }
    gleaner(at, "replay --events idle.csv --tasks dear.toml --t-fwd 1e6").expect(0);
}
