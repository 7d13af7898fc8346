//! A comparison of solvers as tables and as text.

use std::fmt::Write;

use gleaner_core::results::Table;
use gleaner_core::results::compare::{AnswerRow, IncumbentRow, SolverRow};

/// The tables of a comparison.
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

/// The columns of the text that need an explanation, each with one line.
pub const TERMS: [(&str, &str); 7] = [
    (
        "problems",
        "number of decisions in which the solver took part",
    ),
    (
        "optimal",
        "number of decisions with a proven optimal plan (external programs: confirmed)",
    ),
    (
        "total value",
        "sum of the objective values of its plans over all problems",
    ),
    (
        "mean gap, worst gap",
        "shortfall of its plans from the value of the best plan, as a share of that value",
    ),
    (
        "median time",
        "time within which it answered half of the problems",
    ),
    (
        "99 % within",
        "time within which it answered 99 % of the problems",
    ),
    ("first plan", "median time until it found its first plan"),
];

/// The solvers' rows as a text table.
pub fn text(lines: &[SolverRow]) -> String {
    let mut out = format!(
        "{:12} {:>8} {:>8} {:>14} {:>10} {:>10} {:>12} {:>12} {:>12}\n",
        "solver",
        "problems",
        "optimal",
        "total value",
        "mean gap",
        "worst gap",
        "median time",
        "99 % within",
        "first plan"
    );
    for l in lines {
        let _ = write!(
            out,
            "{:12} {:>8} {:>8} {:>14.6e} {:>10} {:>10} {:>12} {:>12} {:>12}",
            l.solver,
            l.problems,
            l.optimal,
            l.objective,
            percent(l.mean_gap),
            percent(l.worst_gap),
            time(l.median_us),
            time(l.p99_us),
            l.first_incumbent_us.map_or("-".to_owned(), time)
        );
        if l.refused > 0 {
            let _ = write!(out, "  refused {}", l.refused);
        }
        if l.without_plan > 0 {
            let _ = write!(out, "  no plan for {}", l.without_plan);
        }
        out.push('\n');
    }
    out
}

/// A relative gap as percent. A gap below the tolerance of the checks is shown as 0.
fn percent(gap: Option<f64>) -> String {
    match gap {
        None => "-".into(),
        Some(gap) if gap < 5e-7 => "0".into(),
        Some(gap) => format!("{:.4} %", 100.0 * gap),
    }
}

fn time(micros: f64) -> String {
    if micros < 1e3 {
        format!("{micros:.1} us")
    } else if micros < 1e6 {
        format!("{:.2} ms", micros / 1e3)
    } else {
        format!("{:.2} s", micros / 1e6)
    }
}
