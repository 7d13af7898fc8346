//! Compares the tables of states with the states computed from the runs.

use gleaner_domain::error::Result;
use gleaner_domain::results::states::SEQ;
use gleaner_runs::read::{Cell, RunInfo};

use super::stage::Swept;
use crate::Findings;

/// Possible intervals between rows, in minutes. Longer intervals are whole days.
const STEPS: [i128; 11] = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720];
const DAY: i128 = 1440;
/// Maximum number of rows in all tables of states together. A longer interval is used if there
/// would be more rows.
const MOST_ROWS: i128 = 120_000_000;
const MINUTE: i64 = 60;

/// The state of a virtual cluster during one or more minutes.
#[derive(Debug, Clone)]
pub(super) struct Stretch {
    /// The first second of the first of these minutes.
    pub first: i64,
    /// Number of minutes.
    pub minutes: i64,
    pub state: State,
}

/// A row's state, with its values in the order of the columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    /// Columns from `total_gpu_num` to `shared_node_num`.
    pub counts: [i64; 9],
    /// Columns from `sm_util` to `gmem_util_active`.
    pub loads: [f64; 4],
}

impl State {
    /// The share of GPUs held by jobs, rounded to three decimals (half to even).
    fn utilisation(&self) -> f64 {
        let [total, idle, ..] = self.counts;
        let share = (total - idle) as f64 / total as f64;
        (share * 1000.0).round_ties_even() / 1000.0
    }
}

/// The total number of simulated minutes that these sweeps cover.
pub(super) fn minutes<'s>(swept: impl Iterator<Item = &'s Swept>) -> i128 {
    let stretches = swept.flat_map(|swept| &swept.stretches);
    stretches.map(|stretch| i128::from(stretch.minutes)).sum()
}

/// Seconds between rows. `minutes` is the number of rows that the tables would have at one row per
/// minute.
pub(super) fn interval(minutes: i128) -> i128 {
    let least = ((minutes + MOST_ROWS - 1) / MOST_ROWS).max(1);
    let step = STEPS.into_iter().find(|&step| step >= least);
    60 * step.unwrap_or((least + DAY - 1) / DAY * DAY)
}

/// Successive rows with the same state: name of the virtual cluster, second of the first row,
/// number of rows, and state.
struct Rows<'a> {
    vc: &'a str,
    first: i64,
    count: i64,
    state: State,
}

/// The states of a virtual cluster every `step` seconds, starting with its first minute.
fn rows<'a>(vc: &'a str, swept: &'a Swept, step: i64) -> impl Iterator<Item = Rows<'a>> {
    let minutes = (step / MINUTE).max(1);
    let origin = swept.stretches.first().map_or(0, |stretch| stretch.first);
    swept.stretches.iter().filter_map(move |stretch| {
        let from = (stretch.first - origin) / MINUTE;
        let (first, end) = (
            from.div_euclid(minutes) + i64::from(from % minutes != 0),
            (from + stretch.minutes - 1) / minutes + 1,
        );
        (first < end).then(|| Rows {
            vc,
            first: origin + MINUTE * minutes * first,
            count: end - first,
            state: stretch.state,
        })
    })
}

/// Compares a table of states with the states of its virtual clusters, or of the profiler.
///
/// # Errors
/// The table is missing or damaged.
pub(super) fn compare(
    info: &RunInfo,
    table: &str,
    vcs: &[(&str, &Swept)],
    step: i64,
    findings: &mut Findings,
) -> Result<()> {
    let expected: Vec<Rows<'_>> = vcs
        .iter()
        .flat_map(|&(vc, swept)| rows(vc, swept, step))
        .collect();
    let total: i128 = expected.iter().map(|rows| i128::from(rows.count)).sum();
    findings.equal(
        format_args!("{table}: rows"),
        info.rows(table)? as i128,
        total,
    );
    for (number, field) in SEQ.iter().enumerate() {
        let mut cursor = Cursor {
            rows: &expected,
            at: 0,
            row: 0,
        };
        let is_there = info.visit(table, field.name, |row, cell| {
            let Some((rows, place)) = cursor.next() else {
                return;
            };
            let is_so = match number {
                0 => cell == Cell::Text(rows.vc),
                1 => cell == Cell::Whole(rows.first + step * place),
                2..=10 => cell == Cell::Whole(rows.state.counts[number - 2]),
                11..=14 => is_number(cell, rows.state.loads[number - 11]),
                _ => is_number(cell, rows.state.utilisation()),
            };
            findings.holds(is_so, || {
                let second = rows.first + step * place;
                format!(
                    "{table}, row {row} ({}, second {second}): {} is {}, but the runs give another value",
                    rows.vc,
                    field.name,
                    text(cell)
                )
            });
        })?;
        if is_there {
            findings.covers(table, [field.name]);
        }
    }
    Ok(())
}

/// The rows of the original simulator's minute-by-minute log: second, counts, loads, and share of
/// GPUs that are held. A log of several virtual clusters has as many rows as the log of the cluster
/// with the fewest minutes. The log contains the sums of all counts, but only the first cluster's
/// loads, truncated to integers.
pub(super) fn summed<'s>(
    swept: &[&'s Swept],
    step: i64,
) -> impl Iterator<Item = Vec<f64>> + use<'s> {
    let each = move |rows: Rows<'s>| {
        let (first, state) = (rows.first, rows.state);
        (0..rows.count).map(move |row| (first + step * row, state))
    };
    let vcs = swept.iter().copied();
    let mut vcs: Vec<_> = vcs
        .map(move |vc| rows("", vc, step).flat_map(each))
        .collect();
    std::iter::from_fn(move || {
        let states: Vec<(i64, State)> = vcs.iter_mut().map_while(Iterator::next).collect();
        if states.is_empty() || states.len() < vcs.len() {
            return None;
        }
        let (second, mut sum) = states[0];
        for (_, state) in &states[1..] {
            for (sum, count) in sum.counts.iter_mut().zip(state.counts) {
                *sum += count;
            }
        }
        let counts = sum.counts.map(|count| count as f64);
        let values = [second as f64].into_iter().chain(counts).chain(sum.loads);
        Some(values.chain([sum.utilisation()]).collect())
    })
}

/// Iterates over the rows in order.
struct Cursor<'r, 'a> {
    rows: &'r [Rows<'a>],
    at: usize,
    row: i64,
}

impl<'r, 'a> Iterator for Cursor<'r, 'a> {
    /// A row, given as its group and its position in that group.
    type Item = (&'r Rows<'a>, i64);

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.rows.get(self.at)?;
        let row = self.row;
        self.row += 1;
        if self.row == rows.count {
            (self.at, self.row) = (self.at + 1, 0);
        }
        Some((rows, row))
    }
}

fn is_number(cell: Cell<'_>, expected: f64) -> bool {
    let number = match cell {
        Cell::Number(number) => number,
        Cell::Whole(number) => number as f64,
        Cell::Missing => f64::NAN,
        Cell::Text(_) => return false,
    };
    let scale = number.abs().max(expected.abs()).max(1.0);
    (number - expected).abs() <= 1e-7 * scale || (number.is_nan() && expected.is_nan())
}

fn text(cell: Cell<'_>) -> String {
    match cell {
        Cell::Missing => "missing".to_owned(),
        Cell::Whole(number) => number.to_string(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => format!("{text:?}"),
    }
}
