//! The figures about searches in `summary.json`.

use super::Searched;
use crate::Grid;
use crate::replay::Named;
use crate::replay::summary::{grid, row_of_texts};
use gleaner_runs::summary::SEARCHED;

/// The figures of each search, side by side, with the changes relative to the first search.
pub(super) fn of_searches(searched: &[Searched<'_>]) -> Grid {
    let runs: Vec<Named<'_>> = searched.iter().map(|run| run.run).collect();
    let title = match runs.as_slice() {
        [first, _, ..] => format!(
            "Figures of the searches, and their changes relative to {}",
            first.name
        ),
        _ => "Figures of the search".to_owned(),
    };
    let algorithms = runs.iter().map(|run| {
        let algorithm = run.result.summary.search.clone();
        algorithm.unwrap_or_else(|| "–".to_owned())
    });
    let algorithms: Vec<String> = algorithms.collect();
    let mut all = grid(title, &runs, &SEARCHED);
    all.rows.insert(0, row_of_texts("algorithm", &algorithms));
    all
}
