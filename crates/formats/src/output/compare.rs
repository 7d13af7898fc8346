//! A comparison of solvers as tables and as text.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use gleaner_core::results::compare::{Estimate, Line, Row};
use gleaner_core::results::{Column, Table};
use gleaner_core::words::counted;

/// A table with a row for each problem and solver.
pub fn answers(rows: &[Row]) -> Table<'_> {
    let float = |of: fn(&Row) -> Option<f64>| Column::Floats(rows.iter().map(of).collect());
    let status = |r: &Row| match &r.status {
        Ok(status) => status.as_str().into(),
        Err(refusal) => format!("refused: {refusal}").into(),
    };
    Table {
        name: "answers",
        columns: vec![
            (
                "problem",
                Column::Texts(rows.iter().map(|r| r.problem.as_str().into()).collect()),
            ),
            (
                "tasks",
                Column::Integers(rows.iter().map(|r| r.tasks as u64).collect()),
            ),
            (
                "nodes",
                Column::Integers(rows.iter().map(|r| r.nodes.into()).collect()),
            ),
            (
                "solver",
                Column::Texts(rows.iter().map(|r| (*r.solver).into()).collect()),
            ),
            ("status", Column::Texts(rows.iter().map(status).collect())),
            ("objective", float(|r| r.objective)),
            ("proven_gap", float(|r| r.proven_gap)),
            ("gap_to_optimum", float(|r| r.gap_to_optimum)),
            ("microseconds", float(|r| Some(r.micros))),
        ],
    }
}

/// A table with a row for each solver.
pub fn solvers(lines: &[Line]) -> Table<'_> {
    let float = |of: fn(&Line) -> Option<f64>| Column::Floats(lines.iter().map(of).collect());
    let count = |of: fn(&Line) -> u64| Column::Integers(lines.iter().map(of).collect());
    Table {
        name: "solvers",
        columns: vec![
            (
                "solver",
                Column::Texts(lines.iter().map(|l| (*l.solver).into()).collect()),
            ),
            ("problems", count(|l| l.problems as u64)),
            ("refused", count(|l| l.refused as u64)),
            ("optimal", count(|l| l.optimal as u64)),
            ("without_plan", count(|l| l.without_plan as u64)),
            ("objective", float(|l| Some(l.objective))),
            ("mean_gap", float(|l| l.mean_gap)),
            ("worst_gap", float(|l| l.worst_gap)),
            ("median_us", float(|l| Some(l.median_micros))),
            ("p99_us", float(|l| Some(l.p99_micros))),
        ],
    }
}

/// The solvers' lines as a text table.
pub fn text(lines: &[Line]) -> String {
    let mut out = format!(
        "{:12} {:>8} {:>8} {:>14} {:>10} {:>10} {:>12} {:>12}\n",
        "solver", "problems", "optimal", "objective", "mean gap", "worst gap", "median", "p99"
    );
    for l in lines {
        let _ = write!(
            out,
            "{:12} {:>8} {:>8} {:>14.6e} {:>10} {:>10} {:>12} {:>12}",
            l.solver,
            l.problems,
            l.optimal,
            l.objective,
            percent(l.mean_gap),
            percent(l.worst_gap),
            time(l.median_micros),
            time(l.p99_micros)
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
