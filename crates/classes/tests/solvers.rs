//! Tests solvers for problems with node classes: the choice of a solver by name, the exported models, and generated
//! rounds.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gleaner_classes::synthetic::{self, Values};
use gleaner_classes::{check, milp, solver};
use gleaner_solvers::backends::solve_model;
use gleaner_solvers::{BigM, Formulation, Limits, SolveError, SolverKind, SolverSpec, Status};

mod support;

use support::{solve, solve_by_milp};

fn is_near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9)
}

/// Solving the exported model gives the objective of the exact solver's plan.
#[test]
fn exported_models_have_the_objective_of_the_problem() {
    for seed in 0..10 {
        let problem = synthetic::problem(4, 20, seed)
            .to_options()
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        let best = solve(&problem).objective.unwrap_or(f64::NAN);
        for kind in [SolverKind::Highs, SolverKind::Cbc] {
            let model = milp::exported(&problem);
            let objectives: Vec<f64> = model.columns.iter().map(|c| c.objective).collect();
            let stop = AtomicBool::new(false);
            let found = match solve_model(kind, model, &Limits::default(), &stop) {
                Err(SolveError::NotBuilt(solver)) => {
                    println!("skipped: this build has no {solver}");
                    continue;
                }
                other => other.unwrap_or_else(|error| panic!("{error}")),
            };
            let values = found.values.unwrap_or_default();
            let terms = objectives.iter().zip(&values);
            let found: f64 = terms.map(|(objective, value)| objective * value).sum();
            assert!(
                (found - best).abs() <= 1e-6 * best.abs(),
                "seed {seed}: {found}, expected {best}"
            );
        }
    }
}

/// Rounds have the documented form, and all solvers find the same optimum.
#[test]
fn drawn_rounds_are_valid_and_solved() {
    for (jobs, gpus) in [(1, 8), (12, 64), (40, 64)] {
        for seed in 0..5 {
            let [rounded, smooth] = [Values::Rounded, Values::Smooth]
                .map(|values| synthetic::round(jobs, gpus, values, seed));
            assert_eq!(rounded, synthetic::round(jobs, gpus, Values::Rounded, seed));
            for problem in [&rounded, &smooth] {
                assert_eq!(problem.validate(), Vec::<String>::new());
                let exact = solve(problem);
                assert_eq!(
                    (exact.status, check(problem, &exact)),
                    (Status::Optimal, Ok(()))
                );
                for other in solve_by_milp(problem) {
                    let pair = (exact.objective.unwrap_or(f64::NAN), other.objective);
                    assert!(
                        pair.1.is_some_and(|other| is_near(other, pair.0)),
                        "{pair:?}"
                    );
                }
            }
            let held = rounded.tasks.iter().filter_map(|task| task.current);
            for (class, kind) in rounded.classes.iter().enumerate() {
                let used = held.clone().filter(|held| held.class == class);
                assert!(used.map(|held| held.count).sum::<u32>() <= kind.capacity);
            }
            for (a, b) in rounded.tasks.iter().zip(&smooth.tasks) {
                assert_eq!((a.current, a.fixed), (b.current, b.fixed));
                for option in &a.options {
                    let hundreds = 100.0 * option.value;
                    assert!((hundreds - hundreds.round()).abs() < 1e-9);
                    let smooth = b.option_of(option.held()).map(|option| option.value);
                    assert!(smooth.is_none_or(|smooth| (smooth - option.value).abs() < 0.0051));
                }
            }
        }
    }
}

#[test]
fn solvers_are_built_by_name() {
    for (kind, name) in [
        (SolverKind::Auto, "exact"),
        (SolverKind::Exact, "exact"),
        (SolverKind::Highs, "highs-counts"),
        (SolverKind::Cbc, "cbc-counts"),
    ] {
        match solver::build(SolverSpec::new(kind)) {
            Err(SolveError::NotBuilt(solver)) => println!("skipped: this build has no {solver}"),
            Err(error) => panic!("{error}"),
            Ok(mut solver) => {
                let problem = synthetic::round(5, 24, Values::Rounded, 1);
                let answer = solver.solve(&problem, &Limits::default());
                let answer = answer.unwrap_or_else(|error| panic!("{error}"));
                assert_eq!((solver.name(), answer.status), (name, Status::Optimal));
            }
        }
    }
    let paper = SolverSpec {
        formulation: Formulation::Paper,
        ..SolverSpec::new(SolverKind::Highs)
    };
    let capped = SolverSpec {
        big_m: BigM::Paper,
        ..SolverSpec::new(SolverKind::Exact)
    };
    for spec in [paper, capped] {
        let error = solver::build(spec).err().map(|error| error.to_string());
        let error = error.unwrap_or_default();
        assert!(
            error.contains("does not support node classes: use"),
            "{spec:?}: {error}"
        );
    }
}

/// A solver stops soon after the flag is set, and returns the best plan so far.
#[test]
fn solvers_stop_when_the_flag_is_set() {
    let problem = synthetic::problem(1000, 4734, 3).to_options();
    let problem = problem.unwrap_or_else(|faults| panic!("{faults:?}"));
    let mut solver =
        solver::build(SolverSpec::new(SolverKind::Exact)).unwrap_or_else(|error| panic!("{error}"));
    solver.stop_when(&Arc::new(AtomicBool::new(true)));
    let answer = solver.solve(&problem, &Limits::default());
    let answer = answer.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(check(&problem, &answer), Ok(()));
    assert!(answer.bound >= answer.objective);
}
