//! The figures of `summary.json`, for one replay, or for several replays side by side.

use super::Named;
use crate::{Block, Fact, Grid, Head};
use gleaner_document::indented;
use gleaner_domain::results::replay::Summary;
use gleaner_runs::summary::{QUANTITIES, Quantity, circumstances, facts, meaning, terms};

/// All figures: for a single replay, a list of facts; for several replays, a table with changes relative to the first
/// replay.
pub(super) fn block(runs: &[Named<'_>]) -> Block {
    match runs {
        [run] => Block::Facts(facts(&run.result.summary)),
        runs => Block::Grid(side_by_side(runs)),
    }
}

fn side_by_side(runs: &[Named<'_>]) -> Grid {
    let title = format!("Figures, and their changes relative to {}", runs[0].name);
    let mut all = grid(title, runs, &QUANTITIES);
    let each = runs.iter().map(|run| circumstances(&run.result.summary));
    let each: Vec<[Fact; 8]> = each.collect();
    let rows = each[0].iter().enumerate().map(|(place, first)| {
        let values = each.iter().map(|facts| facts[place].value.clone());
        let values: Vec<String> = values.collect();
        row_of_texts(&first.label, &values)
    });
    let rows: Vec<Vec<String>> = rows.collect();
    all.rows.splice(0..0, rows);
    all
}

/// A row of text cells, with dashes in the columns for changes.
pub(super) fn row_of_texts(label: &str, values: &[String]) -> Vec<String> {
    let mut cells = vec![label.to_owned()];
    for (place, value) in values.iter().enumerate() {
        cells.push(value.clone());
        cells.extend((place > 0).then(|| "–".to_owned()));
    }
    cells
}

/// A table of the `quantities` for which at least one run has a value. Each run except the first has a second column,
/// with the changes relative to the first run.
pub(super) fn grid(title: String, runs: &[Named<'_>], quantities: &[Quantity]) -> Grid {
    let mut heads = vec![Head::text("figure")];
    for (place, run) in runs.iter().enumerate() {
        heads.push(Head::text(if runs.len() > 1 { run.name } else { "value" }));
        heads.extend((place > 0).then(|| Head::number("change")));
    }
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.result.summary).collect();
    let any_has = |quantity: &&Quantity| summaries.iter().any(|s| (quantity.of)(s).is_some());
    let shown = quantities.iter().filter(any_has);
    Grid::of(title, heads, shown, |quantity| cells(&summaries, quantity))
}

fn cells(summaries: &[&Summary], quantity: &Quantity) -> Vec<String> {
    let base = summaries.first().and_then(|first| (quantity.of)(first));
    let mut cells = vec![indented(quantity.label, quantity.depth)];
    for (place, s) in summaries.iter().enumerate() {
        let told = quantity.fact(s).map(|fact| fact.told());
        cells.push(told.unwrap_or("–".to_owned()));
        if place > 0 {
            let change = (quantity.of)(s).zip(base);
            let change = change.map(|(value, base)| (quantity.change)(value, base));
            cells.push(change.unwrap_or("–".to_owned()));
        }
    }
    cells
}

/// A table that explains the figures.
pub(super) fn explained() -> Grid {
    let heads = ["figure", "meaning"].map(Head::text);
    Grid::of(
        "What the figures mean",
        heads,
        terms(),
        |(label, meaning)| [label, meaning].map(str::to_owned),
    )
}

/// The introductory sentences, which describe the replay.
pub(super) fn lead(runs: &[Named<'_>]) -> String {
    let [run] = runs else {
        return "Changes are relative to the first run.".to_owned();
    };
    let [log, replayed, .., decisions] = circumstances(&run.result.summary);
    let (log, replayed, decisions) = (log.value, replayed.value, decisions.value);
    let meaning = meaning(&run.result.summary, &run.result.tasks);
    format!("The replay is {meaning}. Log: {log}. Replayed: {replayed}. Decisions: {decisions}.")
}
