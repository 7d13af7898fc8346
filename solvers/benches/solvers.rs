//! Compares all solvers on problems of increasing size.
//!
//! Every case is first solved once. The status, objective, gap and time of this solve are printed
//! to stderr. If this solve takes longer than [`TOO_SLOW`], the case is not measured further, and
//! the time of this solve is the result.
//!
//! `cargo bench -p gleaner-solvers --bench solvers -- 'exact'` runs only the cases whose names contain `exact`. The
//! filter must precede any options.

use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{
    BigM, Formulation, Limits, Problem, Solver, SolverKind, SolverSpec, synthetic,
};

/// The sizes of the problems: numbers of tasks and of nodes.
const SIZES: [(usize, u32); 6] = [
    (10, 50),
    (10, 100),
    (10, 400),
    (30, 400),
    (100, 1500),
    (1000, 4734),
];

/// The largest product of tasks and nodes for which the paper formulation is measured.
const LARGEST_PAPER: u64 = 30 * 400;

/// A solve that takes longer than this is not repeated.
const TOO_SLOW: Duration = Duration::from_secs(3);

/// A solve that takes longer than this is repeated only ten times.
const SLOW: Duration = Duration::from_millis(20);

const SOLVERS: [(SolverKind, Formulation); 6] = [
    (SolverKind::Exact, Formulation::Counts),
    (SolverKind::Highs, Formulation::Counts),
    (SolverKind::Cbc, Formulation::Counts),
    (SolverKind::Highs, Formulation::Paper),
    (SolverKind::Cbc, Formulation::Paper),
    (SolverKind::EqualShare, Formulation::Counts),
];

fn limits(formulation: Formulation) -> Limits {
    let seconds = match formulation {
        Formulation::Counts => 60,
        Formulation::Paper => 10,
    };
    Limits {
        time: Duration::from_secs(seconds),
        ..Limits::default()
    }
}

/// Whether `cargo bench` started this program. Under `cargo test`, each case is solved only once.
fn is_measuring() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

fn all(criterion: &mut Criterion) {
    let sizes = if is_measuring() {
        &SIZES[..]
    } else {
        &SIZES[..1]
    };
    for &(tasks, nodes) in sizes {
        let problem = synthetic::problem(tasks, nodes, 1);
        for (kind, formulation) in SOLVERS {
            let pairs = tasks as u64 * u64::from(nodes);
            if formulation == Formulation::Counts || pairs <= LARGEST_PAPER {
                one(criterion, "", &problem, kind, formulation);
            }
        }
    }
}

/// Measures the solvers on problems with groups. The exact solver rejects groups that cross.
fn groups(criterion: &mut Criterion) {
    let kinds: [(&str, Generator); 2] = [
        ("-grouped", synthetic::grouped),
        ("-crossing", synthetic::crossing),
    ];
    let sizes = if is_measuring() {
        &[(10, 100), (30, 400), (100, 400), (300, 1000)][..]
    } else {
        &[(10, 100)][..]
    };
    for (suffix, make) in kinds {
        for &(tasks, nodes) in sizes {
            let problem = make(tasks, nodes, 1);
            for kind in [SolverKind::Exact, SolverKind::Highs, SolverKind::Cbc] {
                if SolverSpec::new(kind).accepts(&problem).is_ok() {
                    one(criterion, suffix, &problem, kind, Formulation::Counts);
                }
            }
        }
    }
}

/// A function that makes a problem from a number of tasks, a number of nodes and a seed.
type Generator = fn(usize, u32, u64) -> Problem;

/// Measures the exact solver on problems with loose bounds, and on problems with many ties. Of ten problems of each
/// kind and size, only the slowest is measured repeatedly.
fn hard(criterion: &mut Criterion) {
    let kinds: [(&str, Generator); 2] = [("noisy", synthetic::noisy), ("alike", synthetic::alike)];
    let sizes = if is_measuring() {
        &[(10, 412), (100, 1500), (1000, 4734)][..]
    } else {
        &[(10, 412)][..]
    };
    let mut exact = Exact::new(BigM::Corrected);
    for (kind, make) in kinds {
        for &(tasks, nodes) in sizes {
            let name = format!("exact-{kind}/{tasks}x{nodes}");
            let mut seconds = |problem: &Problem| {
                let started = Instant::now();
                exact.optimal_counts(problem);
                started.elapsed()
            };
            let problems = (0..10).map(|seed| make(tasks, nodes, seed));
            let Some(slowest) = problems.max_by_key(&mut seconds) else {
                continue;
            };
            criterion.bench_function(&name, |bench| {
                bench.iter(|| exact.optimal_counts(&slowest).map(<[u32]>::len));
            });
        }
    }
}

/// Measures one solver on one problem. `suffix` names the type of problem.
fn one(
    criterion: &mut Criterion,
    suffix: &str,
    problem: &Problem,
    kind: SolverKind,
    formulation: Formulation,
) {
    let spec = SolverSpec {
        kind,
        formulation,
        big_m: BigM::Corrected,
    };
    let Ok(mut solver) = spec.build() else {
        return eprintln!("{kind:?} is not in this build");
    };
    let name = solver.name().to_owned() + suffix;
    let size = format!("{}x{}", problem.tasks.len(), problem.nodes);
    let limits = limits(formulation);
    if !is_wanted(&format!("{name}/{size}")) {
        return;
    }
    let seconds = report(&name, &size, solver.as_mut(), problem, &limits);
    if seconds > TOO_SLOW {
        return eprintln!("{name}/{size}: not repeated, because it takes {seconds:.1?}");
    }
    let mut group = criterion.benchmark_group(&name);
    if seconds > SLOW {
        group.sample_size(10);
    }
    group.measurement_time((seconds * 12).max(Duration::from_secs(2)));
    group.warm_up_time(Duration::from_millis(200));
    group.bench_with_input(
        BenchmarkId::from_parameter(&size),
        problem,
        |bench, problem| {
            bench.iter(|| solver.solve(problem, &limits));
        },
    );
    group.finish();
}

/// Whether the name contains the filter given as the first argument; true without a filter.
fn is_wanted(name: &str) -> bool {
    let first = std::env::args().nth(1);
    let filter = first.filter(|argument| !argument.starts_with('-'));
    filter.is_none_or(|filter| name.contains(&filter))
}

/// Solves once, prints the figures of the answer, and returns the duration of the solve.
fn report(
    name: &str,
    size: &str,
    solver: &mut dyn Solver,
    problem: &Problem,
    limits: &Limits,
) -> Duration {
    let started = Instant::now();
    let answer = solver.solve(problem, limits);
    let took = started.elapsed();
    match answer {
        Ok(answer) => eprintln!(
            "{name}/{size}: {} objective {:.6e} gap {} in {took:.3?}",
            answer.status.as_str(),
            answer.objective.unwrap_or(f64::NAN),
            answer
                .gap()
                .map_or("unknown".to_owned(), |gap| format!("{gap:.1e}")),
        ),
        Err(error) => eprintln!("{name}/{size}: {error}"),
    }
    took
}

criterion_group!(benches, all, hard, groups);
criterion_main!(benches);
