//! Tables of solvers: their answers, their times, and what became of the answers of programs.

use super::time;
use crate::names::{cut, short};
use crate::numbers::{count, large};
use crate::{Grid, Head};
use gleaner_core::results::compare::SolverRow;
use gleaner_core::results::programs::Tally;
use gleaner_runs::read::CompareRun;

/// Gaps below this share are those of rounding.
const ROUNDING: f64 = 5e-7;
/// Maximum number of characters of a fault.
const TOLD: usize = 400;

/// A relative gap as percent.
fn gap(gap: Option<f64>) -> String {
    match gap {
        None => "–".to_owned(),
        Some(gap) if gap < ROUNDING => "0 %".to_owned(),
        Some(gap) => format!("{:.4} %", 100.0 * gap),
    }
}

/// How good the answers of each solver are.
pub(super) fn solvers(run: &CompareRun) -> Grid {
    let columns = [
        "problems",
        "refused",
        "no plan",
        "proven optimal",
        "mean gap",
        "worst gap",
        "sum of objectives",
    ];
    let mut grid = grid("Answers", &columns);
    for row in &run.solvers {
        let counts = [row.problems, row.refused, row.without_plan, row.optimal].map(count);
        let gaps = [gap(row.mean_gap), gap(row.worst_gap), large(row.objective)];
        grid.row([short(&row.solver)].into_iter().chain(counts).chain(gaps));
    }
    grid
}

/// How long each solver takes.
pub(super) fn times(run: &CompareRun) -> Grid {
    let columns = ["first plan (median)", "solve (median)", "solve (99 %)"];
    let mut grid = grid("Times over the problems", &columns);
    for row in &run.solvers {
        let first = row.first_incumbent_us.map_or("–".to_owned(), time);
        let solves = match row.problems {
            0 => ["–", "–"].map(str::to_owned),
            _ => [row.median_us, row.p99_us].map(time),
        };
        grid.row([short(&row.solver), first].into_iter().chain(solves));
    }
    grid
}

/// What became of the answers of programs; `None` if there is none.
pub(super) fn programs(run: &CompareRun) -> Option<Grid> {
    let columns = [
        "solves",
        "called optimal",
        "confirmed",
        "claimed",
        "wrong",
        "late",
        "crashed",
        "lines that are no message",
    ];
    let title = "Programs: every solve, also where a problem was solved again to measure its time";
    let mut grid = grid(title, &columns);
    for (row, tally) in run.programs() {
        let counts = [
            tally.problems,
            tally.confirmed.saturating_add(tally.claimed),
            tally.confirmed,
            tally.claimed,
            tally.wrong,
            tally.late,
            tally.crashed,
            tally.garbage,
        ];
        grid.row([short(&row.solver)].into_iter().chain(counts.map(count)));
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// What went wrong with programs, a sentence each.
pub(super) fn faults(run: &CompareRun) -> impl Iterator<Item = String> {
    let told = |(_, tally): (&SolverRow, &Tally)| {
        let told = tally.remark()?;
        Some(cut(&format!("Faults of {told}"), TOLD))
    };
    run.programs().filter_map(told)
}

/// A table with a row for each solver.
fn grid(title: &str, columns: &[&str]) -> Grid {
    let heads = columns.iter().map(|name| Head::number(*name));
    Grid::new(title, [Head::text("solver")].into_iter().chain(heads))
}
