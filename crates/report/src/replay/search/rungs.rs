//! The table of a search's rungs.

use super::Searched;
use super::told::{loss, resource};
use crate::numbers::{count, in_hours};
use crate::{Grid, Head};

/// Builds a table with a row for each rung. `is_alone` is true if the page has no other search.
pub(super) fn grid(run: &Searched<'_>, is_alone: bool) -> Grid {
    let title = if is_alone {
        "Rungs".to_owned()
    } else {
        format!("Rungs of {}", run.run.name)
    };
    let heads = [
        "trials that reached the rung",
        "first trial reached the rung after",
        "half of the trials reached the rung after",
        "best loss at the rung",
    ];
    let heads = std::iter::once(Head::text("resource")).chain(heads.map(Head::number));
    let mut grid = Grid::new(title, heads);
    for rung in &run.outcome.rungs {
        grid.row([
            resource(rung.resource),
            count(rung.trials),
            in_hours(rung.first_s),
            in_hours(rung.median_s),
            loss(rung.best_loss),
        ]);
    }
    grid
}
