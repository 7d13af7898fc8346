//! A comparison of solvers as tables and as text.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use gleaner_core::results::Table;
use gleaner_core::results::compare::{AnswerRow, Estimate, IncumbentRow, SolverRow};
use gleaner_core::words::counted;

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

/// An estimate of how long a comparison takes, in one line.
pub fn estimate(estimate: &Estimate) -> String {
    let of = |(name, time): &(Cow<'_, str>, Duration)| format!("{name} {}", rough(*time));
    let each: Vec<String> = estimate.contenders.iter().map(of).collect();
    format!(
        "{} take {}: {}",
        counted(estimate.problems, "problem"),
        match rough(estimate.all) {
            short if short.starts_with("under") => short,
            long => format!("about {long}"),
        },
        each.join(", ")
    )
}

/// A measured time in one unit, with one or two digits.
fn rough(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..0.0095 => "under 0.01 s".to_owned(),
        ..0.095 => format!("{seconds:.2} s"),
        ..9.95 => format!("{seconds:.1} s"),
        ..119.5 => format!("{seconds:.0} s"),
        ..7170.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_printed_on_one_line() {
        let ms = Duration::from_millis;
        let of = Estimate {
            problems: 12,
            contenders: vec![
                ("exact".into(), ms(3)),
                ("highs".into(), ms(61)),
                ("cbc-paper".into(), ms(290_000)),
            ],
            all: ms(292_000),
        };
        assert_eq!(
            estimate(&of),
            "12 problems take about 5 min: exact under 0.01 s, highs 0.06 s, cbc-paper 5 min"
        );
        let others = [ms(980), ms(10_400), ms(90_000), ms(36_000_000)].map(rough);
        assert_eq!(others, ["1.0 s", "10 s", "90 s", "10 h"]);
    }
}
