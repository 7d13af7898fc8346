//! Reads the results of `gleaner compare`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::files::RunFiles;
use super::rows::read_records;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::compare::{AnswerRow, IncumbentRow, SolverRow};
use gleaner_domain::results::programs::Tally;

/// The results of a comparison of solvers.
#[derive(Debug, Clone)]
pub struct CompareRun {
    /// Every answer, sorted by problem, then by solver.
    pub answers: Vec<AnswerRow>,
    /// The solvers. Programs come last.
    pub solvers: Vec<SolverRow>,
    /// Every plan that improved on the solver's earlier plans, sorted by answer, then by time.
    pub incumbents: Vec<IncumbentRow>,
    /// The tallies of the programs' answers, in the order of [`CompareRun::solvers`].
    pub programs: Vec<Tally>,
    /// Whether every solver was given every problem; false if the comparison was interrupted.
    pub complete: bool,
}

const PROGRAMS: &str = "programs.json";

impl CompareRun {
    pub(super) fn read(files: &RunFiles<'_>, complete: bool) -> Result<Self> {
        let solvers = read_solvers(files)?;
        let known: BTreeSet<Arc<str>> = solvers.iter().map(|row| row.solver.clone()).collect();
        Ok(CompareRun {
            answers: read_answers(files, &known)?,
            incumbents: read_incumbents(files, &known)?,
            programs: read_programs(files, &solvers)?,
            solvers,
            complete,
        })
    }

    /// The programs among the solvers, with the tallies of their answers.
    pub fn programs(&self) -> impl Iterator<Item = (&SolverRow, &Tally)> {
        programs(&self.solvers, &self.programs)
    }
}

/// The programs among the solvers, with the tallies of their answers. Programs come last among the solvers.
pub fn programs<'a>(
    solvers: &'a [SolverRow],
    tallies: &'a [Tally],
) -> impl Iterator<Item = (&'a SolverRow, &'a Tally)> {
    let ours = solvers.len().saturating_sub(tallies.len());
    solvers.iter().skip(ours).zip(tallies)
}

/// The column of a wrong cell, and the expected value; `None` if nothing is wrong.
type Wrong = Option<(&'static str, &'static str)>;

/// Checks that a number, if there is one, is not negative.
fn at_least_zero(column: &'static str, value: Option<f64>) -> Wrong {
    value
        .is_some_and(|value| value < 0.0)
        .then_some((column, "at least 0"))
}

fn known_solver(known: &BTreeSet<Arc<str>>, solver: &Arc<str>) -> Wrong {
    (!known.contains(solver)).then_some(("solver", "a solver listed in solvers.parquet"))
}

fn read_solvers(files: &RunFiles<'_>) -> Result<Vec<SolverRow>> {
    read_records(files, "solvers.parquet", |_, row: &SolverRow| {
        at_least_zero("median_us", Some(row.median_us))
            .or_else(|| at_least_zero("p99_us", Some(row.p99_us)))
            .or_else(|| at_least_zero("first_incumbent_us", row.first_incumbent_us))
    })
}

fn read_answers(files: &RunFiles<'_>, known: &BTreeSet<Arc<str>>) -> Result<Vec<AnswerRow>> {
    read_records(files, "answers.parquet", |_, row: &AnswerRow| {
        known_solver(known, &row.solver)
            .or_else(|| at_least_zero("microseconds", Some(row.micros)))
            .or_else(|| at_least_zero("first_incumbent_us", row.first_incumbent_us))
    })
}

fn read_incumbents(files: &RunFiles<'_>, known: &BTreeSet<Arc<str>>) -> Result<Vec<IncumbentRow>> {
    read_records(files, "incumbents.parquet", |_, row: &IncumbentRow| {
        known_solver(known, &row.solver)
            .or_else(|| at_least_zero("after_us", Some(row.after_us)))
            .or_else(|| at_least_zero("gap", Some(row.gap)))
    })
}

/// Reads the tallies of the external programs' answers. The result is empty if no program was compared. The programs
/// must be the last `solvers`, in the same order.
fn read_programs(files: &RunFiles<'_>, solvers: &[SolverRow]) -> Result<Vec<Tally>> {
    if !files.has(PROGRAMS) {
        return Ok(Vec::new());
    }
    let programs: Vec<Tally> = files.json(PROGRAMS)?;
    let backwards = solvers.iter().rev().zip(programs.iter().rev());
    let is_named = |(row, tally): (&SolverRow, &Tally)| {
        // The name of a Python function begins with `python:` in both files.
        let program = row.solver.strip_prefix("exec:");
        let function = || row.solver.starts_with("python:").then_some(&*row.solver);
        let name = program.or_else(function);
        name.is_some_and(|name| name.starts_with(&tally.identity.name))
    };
    if programs.len() > solvers.len() || !backwards.into_iter().all(is_named) {
        let fault = Fault::of(
            &files.path(PROGRAMS),
            "programs that differ from the last programs in solvers.parquet",
            "the programs of the same run",
        );
        return Err(fault.remedy("repeat the run").into());
    }
    Ok(programs)
}
