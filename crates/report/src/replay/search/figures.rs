//! The figures of `summary.json` about searches.

use super::Searched;
use super::told::loss;
use crate::Grid;
use crate::numbers::{change, count, in_hours, large, number, percent, points};
use crate::replay::Named;
use crate::replay::compare::{self, Row};
use gleaner_core::results::replay::Summary;

const ROWS: [Row; 12] = [
    (
        "Trials started",
        |s| trials(s.trials_started),
        count,
        change,
    ),
    (
        "Trials stopped",
        |s| trials(s.trials_stopped),
        count,
        change,
    ),
    (
        "Trials finished",
        |s| trials(s.trials_finished),
        count,
        change,
    ),
    ("Trials in progress at the end", left, count, change),
    (
        "Trials measured per hour",
        |s| s.trials_per_hour,
        number,
        change,
    ),
    (
        "Time to the first rung",
        |s| s.first_rung_s,
        in_hours,
        change,
    ),
    ("Time to the last rung", |s| s.last_rung_s, in_hours, change),
    ("Best loss", |s| s.best_loss, loss, change),
    (
        "Time to the best trial",
        |s| s.best_trial_s,
        in_hours,
        change,
    ),
    ("Regret", |s| s.regret, loss, change),
    ("Wasted work", |s| s.wasted_work, large, change),
    (
        "Wasted share of the work done",
        wasted_share,
        percent,
        points,
    ),
];

fn trials(number: Option<usize>) -> Option<f64> {
    number.map(|number| number as f64)
}

/// Trials that were neither stopped nor finished.
fn left(s: &Summary) -> Option<f64> {
    let ended = s.trials_stopped?.saturating_add(s.trials_finished?);
    Some(s.trials_started?.saturating_sub(ended) as f64)
}

fn wasted_share(s: &Summary) -> Option<f64> {
    let wasted = s.wasted_work?;
    (s.total_work > 0.0).then(|| wasted / s.total_work)
}

/// The figures of each search, side by side, with their changes relative to the first.
pub(super) fn grid(searched: &[Searched<'_>]) -> Grid {
    let runs: Vec<Named<'_>> = searched.iter().map(|run| run.run).collect();
    let title = match runs.as_slice() {
        [first, _, ..] => format!(
            "Figures of the searches, and their change against {}",
            first.name
        ),
        _ => "Figures of the search".to_owned(),
    };
    let mut grid = compare::grid(title, &runs, &ROWS);
    grid.rows.insert(0, algorithms(&runs));
    grid
}

/// The row with the algorithms. They are names, which have no changes.
fn algorithms(runs: &[Named<'_>]) -> Vec<String> {
    let mut cells = vec!["Algorithm".to_owned()];
    for (place, run) in runs.iter().enumerate() {
        let algorithm = run.result.summary.search;
        cells.push(algorithm.map_or("–".to_owned(), |algorithm| algorithm.to_string()));
        cells.extend((place > 0).then(|| "–".to_owned()));
    }
    cells
}
