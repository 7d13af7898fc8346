//! Compares several simulations with the first.

use super::Named;
use crate::numbers::{change, hours};
use crate::{Grid, Head};
use gleaner_runs::read::PolicyRun;
use gleaner_runs::simulate::Figure as Delay;

/// A table for each of the compared metrics, with a row for each policy and a column for each run.
pub(super) fn grids(runs: &[Named<'_>]) -> Vec<Grid> {
    Delay::ALL.map(|delay| grid(runs, delay)).to_vec()
}

fn grid(runs: &[Named<'_>], delay: Delay) -> Grid {
    let mut heads = vec![Head::text("policy")];
    for (place, run) in runs.iter().enumerate() {
        heads.push(Head::number(run.name));
        if place > 0 {
            heads.push(Head::number("change"));
        }
    }
    let mut grid = Grid::new(delay.title(), heads);
    for name in policies(runs) {
        let value = |run: &Named<'_>| find(run, name).map(|policy| delay.of(&policy.figures.all));
        let base = value(&runs[0]);
        let mut row = vec![name.to_owned()];
        for (place, run) in runs.iter().enumerate() {
            let value = value(run);
            row.push(value.map_or("–".to_owned(), hours));
            if place > 0 {
                let change = value.zip(base).map(|(value, base)| change(value, base));
                row.push(change.unwrap_or("–".to_owned()));
            }
        }
        grid.row(row);
    }
    grid
}

/// The names of all policies, in the order of their first appearance.
fn policies<'a>(runs: &[Named<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for policy in runs.iter().flat_map(|run| &run.result.policies) {
        if !names.contains(&policy.name.as_str()) {
            names.push(&policy.name);
        }
    }
    names
}

fn find<'a>(run: &Named<'a>, name: &str) -> Option<&'a PolicyRun> {
    run.result
        .policies
        .iter()
        .find(|policy| policy.name == name)
}
