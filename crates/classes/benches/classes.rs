//! Compares the exact solver with HiGHS and CBC on the reference problems with node classes. The values of these
//! problems are either rounded or smooth.
//!
//! `cargo bench -p gleaner-classes` measures the wall time of each solve on one thread. The exact solver runs several
//! times, and its shortest time is reported. The other solvers run once. The exact solver is also timed on generated
//! problems with curves and costs.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::Instant;

use gleaner_classes::{Answer, Exact, Milp, Problem, check, synthetic};
use gleaner_solvers::{Limits, SolveError, SolverKind, Status};

/// Number of runs of the exact solver on each problem.
const RUNS: usize = 5;

/// Sizes of the generated problems: number of tasks, number of nodes, and number of problems of this size.
const SIZES: [(usize, u32, u64); 5] = [
    (10, 100, 20),
    (30, 400, 20),
    (100, 1500, 20),
    (300, 4734, 10),
    (1000, 4734, 10),
];

fn main() {
    let problems = references();
    if problems.is_empty() {
        println!("skipped: the reference problems are missing");
    } else {
        println!("{} reference problems, milliseconds", problems.len());
        let exact = times("exact", &problems, RUNS, |problem, limits| {
            Exact::default().solve(problem, limits)
        });
        for (name, kind) in [("highs", SolverKind::Highs), ("cbc", SolverKind::Cbc)] {
            let solver = Milp::new(kind);
            if let Err(SolveError::NotBuilt(_)) = solver.solve(&problems[0], &Limits::default()) {
                println!("{name}: skipped, because this build has no {name}");
                continue;
            }
            let other = times(name, &problems, 1, |problem, limits| {
                solver.solve(problem, limits)
            });
            compare(name, &exact, &other);
        }
    }
    for (tasks, nodes, seeds) in SIZES {
        let curves = (0..seeds).map(|seed| synthetic::problem(tasks, nodes, seed).to_options());
        let problems: Vec<Problem> = curves
            .map(|problem| problem.unwrap_or_else(|faults| panic!("{faults:?}")))
            .collect();
        let name = format!("exact, {tasks} tasks x {nodes} nodes with costs");
        times(&name, &problems, 1, |problem, limits| {
            Exact::default().solve(problem, limits)
        });
    }
}

/// The reference problems, first with rounded and then with smooth values.
fn references() -> Vec<Problem> {
    let files = ["problems", "smooth"];
    let paths = files
        .iter()
        .filter_map(|file| gleaner_testing::shared(&format!("classes/{file}.jsonl")));
    let texts =
        paths.map(|path| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}")));
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}"));
    texts
        .flat_map(|text| text.lines().map(parse).collect::<Vec<_>>())
        .collect()
}

/// Returns the shortest solve time of each problem, in milliseconds, and prints a summary.
fn times(
    name: &str,
    problems: &[Problem],
    runs: usize,
    solve: impl Fn(&Problem, &Limits) -> Result<Answer, SolveError>,
) -> Vec<f64> {
    let limits = Limits::default();
    let mut proven = 0;
    let mut least = Vec::new();
    for problem in problems {
        let mut best = f64::INFINITY;
        for run in 0..runs {
            let clock = Instant::now();
            let answer =
                solve(problem, &limits).unwrap_or_else(|error| panic!("{}: {error}", problem.id));
            best = best.min(clock.elapsed().as_secs_f64() * 1e3);
            if run == 0 {
                assert_eq!(check(problem, &answer), Ok(()), "{}", problem.id);
                proven += usize::from(answer.status == Status::Optimal);
            }
        }
        least.push(best);
    }
    let mut sorted = least.clone();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    let total: f64 = sorted.iter().sum();
    println!(
        "{name}: median {:.3}, 90 % {:.3}, max {:.3}, total {total:.1}, {proven} of {} proven",
        at(0.5),
        at(0.9),
        at(1.0),
        problems.len()
    );
    least
}

/// Prints statistics on the ratios of another solver's times to the times of the exact solver.
fn compare(name: &str, exact: &[f64], other: &[f64]) {
    let ratios: Vec<f64> = exact
        .iter()
        .zip(other)
        .map(|(exact, other)| other / exact)
        .collect();
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let total = other.iter().sum::<f64>() / exact.iter().sum::<f64>();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let hundredfold = ratios.iter().filter(|ratio| **ratio >= 100.0).count();
    println!(
        "{name} takes {mean:.0} times as long (geometric mean), {total:.0} times in total, at least {least:.0} times; \
         100 times or more on {hundredfold} of {} problems",
        ratios.len()
    );
}
