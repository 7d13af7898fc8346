//! Sia: the allocation problems of its scheduling rounds, each with its optimum.
//!
//! The exact solver solves every problem twice: with the values as Sia rounds them, and with the values before
//! rounding. It then solves rounds that are drawn at random, whose optima are not recorded. The chosen solvers are also
//! timed.

mod times;

use std::path::Path;

use gleaner_classes::synthetic::{Values as Form, round};
use gleaner_classes::{Answer, AnyProblem, ClassSolver, Problem, solver};
use gleaner_domain::Observer;
use gleaner_domain::error::{Fault, Result, check_stop};
use gleaner_domain::results::reproduce::System;
use gleaner_inputs::problems;
use gleaner_solvers::{Limits, SolverKind, SolverSpec, Status};
use serde::Deserialize;

use crate::Part;
use crate::files::{Data, json_lines};
use crate::filled::Values;

use times::Solved;
pub use times::SolverTimes;

/// The numbers of jobs and GPUs in the drawn rounds.
const SIZES: [(usize, u32); 6] = [
    (10, 64),
    (20, 64),
    (40, 64),
    (80, 128),
    (120, 256),
    (160, 512),
];
/// Number of rounds drawn for each size.
const SEEDS: u64 = 5;

/// The two forms of the values, each with its name in tables and its file: rounded as in Sia, and before rounding.
const FORMS: [(Form, &str, &str); 2] = [
    (Form::Rounded, "rounded values", "classes/problems.jsonl"),
    (
        Form::Smooth,
        "values before rounding",
        "classes/smooth.jsonl",
    ),
];

/// The optimum of a problem.
#[derive(Debug, Deserialize)]
struct Optimum {
    optimum: f64,
}

/// Solves the recorded rounds in `data`, if a directory is given, and the drawn rounds. Also times `solvers` on all
/// these rounds.
pub(super) fn reproduce<'c>(
    data: Option<Data<'_>>,
    solvers: &[SolverKind],
    observer: &'c dyn Observer,
) -> Result<Part<'c>> {
    let mut part = Part::new(System::Sia, observer)?;
    if let Some(data) = data {
        let mut ours = Values::default();
        for (_, name, file) in FORMS {
            let path = data.file(file);
            let problems = recorded(&mut part, &path)?;
            let optima = optima(&path, problems.len())?;
            let exact = add(&mut part, name, &problems, Some(optima), solvers)?;
            let values = [
                ("problems", problems.len() as f64),
                ("proven optimal", exact.proven() as f64),
                ("greatest deviation", exact.deviation().unwrap_or(0.0)),
            ];
            ours.row(name, values);
        }
        part.add("sia-optima", &ours)?;
    } else {
        part.published.retain(|artifact| artifact.id == DRAWN);
    }
    let mut ours = Values::default();
    for (form, name, _) in FORMS {
        let sizes = SIZES.iter();
        let rounds = sizes
            .flat_map(|(jobs, gpus)| (0..SEEDS).map(move |seed| round(*jobs, *gpus, form, seed)));
        let rounds: Vec<Problem> = rounds.collect();
        let name = format!("random rounds, {name}");
        let exact = add(&mut part, &name, &rounds, None, solvers)?;
        let jobs: usize = rounds.iter().map(|round| round.tasks.len()).sum();
        let values = [
            ("problems", rounds.len() as f64),
            ("jobs", jobs as f64),
            ("proven optimal", exact.proven() as f64),
        ];
        ours.row(&name, values);
    }
    part.add(DRAWN, &ours)?;
    part.finish()
}

/// Identifier of the table of drawn rounds.
const DRAWN: &str = "sia-drawn";

/// Reads recorded problems.
fn recorded(part: &mut Part<'_>, path: &Path) -> Result<Vec<Problem>> {
    let problems = part.take(problems::read(path)?);
    let problems = problems.into_iter().map(|problem| match problem {
        AnyProblem::Classes(problem) => Ok(std::sync::Arc::unwrap_or_clone(problem)),
        AnyProblem::OneClass(problem) => {
            let fault = Fault::of(path, "a problem without node classes", "node classes");
            Err(fault.at(format!("problem {}", problem.id)).into())
        }
    });
    problems.collect()
}

/// Reads the optimum of each problem.
fn optima(path: &Path, problems: usize) -> Result<Vec<f64>> {
    let optima: Vec<Optimum> = json_lines(path, "the field optimum on each line")?;
    if optima.len() != problems {
        let found = format!("optima for {} of {problems} problems", optima.len());
        return Err(Fault::of(path, found, "an optimum for each problem").into());
    }
    Ok(optima.iter().map(|line| line.optimum).collect())
}

/// Solves a set of problems with the exact solver and with `solvers`, and records the times of `solvers` in `part`.
/// Returns the exact solver's results. If no optima are recorded, the objectives of the first of `solvers` that is not
/// the exact solver serve as optima.
fn add(
    part: &mut Part<'_>,
    set: &str,
    problems: &[Problem],
    optima: Option<Vec<f64>>,
    solvers: &[SolverKind],
) -> Result<Solved> {
    let mut exact = solve(SolverKind::Exact, problems, part.observer)?;
    let others = solvers.iter().filter(|kind| **kind != SolverKind::Exact);
    let others = others.map(|kind| solve(*kind, problems, part.observer));
    let mut others = others.collect::<Result<Vec<_>>>()?;
    let reference = optima.or_else(|| others.first().map(Solved::objectives));
    if let Some(reference) = &reference {
        exact.compare(reference);
        others
            .iter_mut()
            .for_each(|solved| solved.compare(reference));
    }
    if solvers.contains(&SolverKind::Exact) {
        part.times.push(exact.times(set, None));
    }
    let others = others.iter().map(|solved| solved.times(set, Some(&exact)));
    part.times.extend(others);
    Ok(exact)
}

/// Solves problems one after the other on one thread, and measures the times.
fn solve(kind: SolverKind, problems: &[Problem], observer: &dyn Observer) -> Result<Solved> {
    let mut solver = solver::build(SolverSpec::new(kind))?;
    solver.stop_when(observer.stop());
    let mut solved = Solved::by(solver.name());
    for problem in problems {
        check_stop(observer)?;
        let (seconds, answer) = timed(solver.as_mut(), problem)?;
        check_stop(observer)?;
        let is_proven =
            answer.status == Status::Optimal && gleaner_classes::check(problem, &answer).is_ok();
        solved.add(seconds, is_proven, answer.objective.unwrap_or(f64::NAN));
    }
    Ok(solved)
}

fn timed(solver: &mut dyn ClassSolver, problem: &Problem) -> Result<(f64, Answer)> {
    let clock = std::time::Instant::now();
    let answer = solver.solve(problem, &Limits::default())?;
    Ok((clock.elapsed().as_secs_f64(), answer))
}
