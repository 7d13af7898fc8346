//! Tests programs that solve problems with node classes.

use gleaner_classes::synthetic::{Values, round};
use gleaner_classes::{Answer, ClassSolver, Exact, Problem, check};
use gleaner_exec_solver::{External, Tally};
use gleaner_solvers::{BigM, Limits, SolveError, Status};

use crate::examples::example;
use crate::faults::python;

const PROBLEMS: u64 = 3;

fn problems() -> Vec<Problem> {
    let problem = |seed| {
        let mut problem = round(6, 24, Values::Rounded, seed);
        // Without fixed tasks, the plan that gives no nodes to any task is feasible.
        problem.tasks.iter_mut().for_each(|task| task.fixed = false);
        problem
    };
    (0..PROBLEMS).map(problem).collect()
}

fn bad(way: &str) -> External {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/bad_classes.py");
    let command = format!("exec:python3 '{path}' {way}").parse().unwrap();
    External::start(command, BigM::default()).unwrap()
}

/// The answers of a program, and their tally.
fn judged(way: &str) -> (Vec<Answer>, Tally) {
    let mut solver = bad(way);
    let tally = solver.tally();
    let answers = problems()
        .iter()
        .map(|problem| {
            let answer = ClassSolver::solve(&mut solver, problem, &Limits::default()).unwrap();
            assert_eq!(check(problem, &answer), Ok(()), "{way}");
            answer
        })
        .collect();
    (answers, tally.get())
}

#[test]
fn the_example_solves_problems_with_classes() {
    let Some(command) = example("classes.py", "json") else {
        return;
    };
    let mut solver = External::start(command, BigM::default()).unwrap();
    for problem in problems() {
        let found = ClassSolver::solve(&mut solver, &problem, &Limits::default()).unwrap();
        let best = Exact::default()
            .solve(&problem, &Limits::default())
            .unwrap();
        assert_eq!(found.status, Status::Optimal);
        let (found, best) = (found.objective.unwrap(), best.objective.unwrap());
        assert!((found - best).abs() < 1e-9, "{found}, {best}");
    }
    let tally = solver.tally().get();
    assert_eq!((tally.confirmed, tally.faults()), (PROBLEMS as usize, 0));
    assert_eq!(ClassSolver::name(&solver), "exec:classes.py");
}

#[test]
fn programs_without_the_capability_get_no_classes() {
    if !python() {
        return;
    }
    let mut solver = bad("none");
    let refused = ClassSolver::solve(&mut solver, &problems()[0], &Limits::default());
    let Err(SolveError::Unfit(what)) = refused else {
        panic!("{refused:?}");
    };
    assert!(what.contains("does not list the capability \"classes\""));
}

#[test]
fn plans_with_classes_are_checked() {
    if !python() {
        return;
    }
    for (way, said) in [
        ("counts", "reported as solved, but without plan"),
        (
            "no-list",
            "a plan that is not a list of [class, count] or null",
        ),
        ("no-option", "nodes that match none of its options"),
        ("too-many", "are used"),
        ("short", "the plan has 5 entries"),
        ("infeasible", "reported as infeasible, but a plan exists"),
    ] {
        let (found, tally) = judged(way);
        let without_plan = found.iter().all(|answer| answer.plan.is_none());
        assert!(without_plan, "{way}");
        assert_eq!(tally.wrong, PROBLEMS as usize, "{way}");
        let told = tally.remark().unwrap();
        assert!(told.contains(said), "{way}: {told}");
    }
    for (way, wrong, refused) in [("claims", 3, 0), ("incumbent", 0, 0), ("refuses", 0, 3)] {
        let (found, tally) = judged(way);
        let has_plan = found.iter().all(|answer| answer.status == Status::Feasible);
        assert_eq!(has_plan, way != "refuses", "{way}");
        assert_eq!((tally.wrong, tally.refused), (wrong, refused), "{way}");
    }
}
