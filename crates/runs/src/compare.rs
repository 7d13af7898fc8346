//! Tables of a solver comparison. Some tables are written to files. The others are printed and shown on a page.

use gleaner_document::names::short;
use gleaner_document::numbers::{count, large, number};
use gleaner_document::{Block, Grid, Head};
use gleaner_domain::results::Table;
use gleaner_domain::results::compare::{AnswerRow, IncumbentRow, SolverRow};
use gleaner_domain::results::programs::Tally;

/// The text of a cell whose value is unknown.
const NONE: &str = "–";
/// Gaps below this value are shown as `0 %`, because they round to 0 at four decimals of a percentage.
const ROUNDING: f64 = 5e-7;

/// The tables of a comparison that are written to files.
pub fn tables<'a>(
    answers: &'a [AnswerRow],
    solvers: &'a [SolverRow],
    incumbents: &'a [IncumbentRow],
) -> [Table<'a>; 3] {
    [
        Table::of("answers", answers),
        Table::of("solvers", solvers),
        Table::of("incumbents", incumbents),
    ]
}

/// The tables of a comparison that are printed and shown on a page. They show the quality of each solver's answers and
/// the time that each solver takes. If programs were compared, a third table shows how their answers were judged.
pub fn compared<'a>(
    solvers: &[SolverRow],
    programs: impl IntoIterator<Item = (&'a SolverRow, &'a Tally)>,
) -> Vec<Block> {
    let programs = self::programs(programs).map(Block::Grid);
    let solvers = [Block::Grid(answers(solvers)), Block::Grid(times(solvers))];
    solvers.into_iter().chain(programs).collect()
}

/// The column labels that need an explanation, with their explanations.
pub fn terms() -> Vec<(String, &'static str)> {
    let heads = answers(&[]).heads.into_iter().chain(times(&[]).heads);
    let terms = heads.map(|head| (head.name, head.meaning));
    terms.filter(|(_, meaning)| !meaning.is_empty()).collect()
}

/// A table with a row for each solver: its counts of answers, its total value and its gaps.
fn answers(solvers: &[SolverRow]) -> Grid {
    let heads = [
        Head::text("solver"),
        Head::number("problems").meaning("number of decisions that the solver accepted"),
        Head::number("refused").meaning("number of decisions that the solver cannot make"),
        Head::number("no plan").meaning("number of decisions for which the solver found no plan"),
        Head::number("optimal").meaning(
            "number of decisions with a proven optimal plan (for external programs: confirmed by the exact solver)",
        ),
        Head::number("total value")
            .meaning("sum of the objective values of the solver's plans over all problems"),
        Head::number("mean gap").meaning(
            "mean shortfall of the solver's plans from the value of the best plan, as a share of that value",
        ),
        Head::number("worst gap").meaning("the largest shortfall of any of the solver's plans"),
    ];
    Grid::of("Answers", heads, solvers, |row| {
        let counts = [row.problems, row.refused, row.without_plan, row.optimal].map(count);
        let values = [large(row.objective), gap(row.mean_gap), gap(row.worst_gap)];
        let cells = std::iter::once(short(&row.solver)).chain(counts);
        cells.chain(values).collect::<Vec<_>>()
    })
}

/// A table with a row for each solver: the times that the solver takes to find its first plan and to answer a problem.
fn times(solvers: &[SolverRow]) -> Grid {
    let heads = [
        Head::text("solver"),
        Head::number("first plan").meaning("median time until the solver found its first plan"),
        Head::number("median time").meaning("median time to answer a problem"),
        Head::number("99 % within").meaning("99th percentile of the time to answer a problem"),
    ];
    Grid::of("Solve times", heads, solvers, |row| {
        let first = row.first_incumbent_us.map_or(NONE.to_owned(), time);
        let [half, most] = match row.problems {
            0 => [NONE, NONE].map(str::to_owned),
            _ => [row.median_us, row.p99_us].map(time),
        };
        [short(&row.solver), first, half, most]
    })
}

/// A table that shows how each program's answers were judged; `None` if there are no programs.
fn programs<'a>(programs: impl IntoIterator<Item = (&'a SolverRow, &'a Tally)>) -> Option<Grid> {
    let columns = [
        "asked",
        "called optimal",
        "confirmed",
        "claimed",
        "wrong",
        "late",
        "crashed",
        "refused",
        "not a message",
    ];
    let heads = columns.into_iter().map(Head::number);
    let heads = std::iter::once(Head::text("solver")).chain(heads);
    let title = "Programs: all solves, including those repeated to measure times";
    let grid = Grid::of(title, heads, programs, |(row, tally)| {
        let counts = [
            tally.problems,
            tally.confirmed.saturating_add(tally.claimed),
            tally.confirmed,
            tally.claimed,
            tally.wrong,
            tally.late,
            tally.crashed,
            tally.refused,
            tally.garbage,
        ];
        std::iter::once(short(&row.solver))
            .chain(counts.map(count))
            .collect::<Vec<_>>()
    });
    (!grid.rows.is_empty()).then_some(grid)
}

/// A relative gap as a percentage. A gap below [`ROUNDING`] is shown as 0.
fn gap(gap: Option<f64>) -> String {
    match gap {
        None => NONE.to_owned(),
        Some(gap) if gap < ROUNDING => "0 %".to_owned(),
        Some(gap) => format!("{:.4} %", 100.0 * gap),
    }
}

/// Microseconds in the largest unit that fits: `12.3 µs`, `1.23 ms`, `4.56 s`.
pub fn time(micros: f64) -> String {
    let units = [(1e6, "s"), (1e3, "ms")];
    let unit = units.iter().find(|(size, _)| micros >= *size);
    let (size, unit) = unit.copied().unwrap_or((1.0, "µs"));
    format!("{} {unit}", number(micros / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits() {
        let times = [0.25, 12.34, 1_230.0, 4.56e6, 7.2e9].map(time);
        assert_eq!(
            times,
            ["0.250 µs", "12.3 µs", "1.23 ms", "4.56 s", "7,200 s"]
        );
    }
}
