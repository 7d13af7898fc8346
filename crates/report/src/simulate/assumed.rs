//! Shows the assumptions behind the policies' figures, without which they cannot be compared.

use gleaner_core::results::simulate::{Durations, PolicyFigures};
use gleaner_core::words::printable;
use gleaner_learn::metrics::is_near_chance;

use super::Named;
use crate::names::cut;
use crate::numbers::number;
use crate::{Block, Grid, Head};

/// Maximum number of characters shown of the source of estimates.
const SHOWN: usize = 200;

/// A table of what each policy knows about durations, and a note on the limits of the model.
pub(super) fn blocks(run: &Named<'_>) -> [Block; 2] {
    [Block::Grid(grid(run)), Block::Note(note(run))]
}

fn grid(run: &Named<'_>) -> Grid {
    let heads = [
        Head::text("policy"),
        Head::text("durations of jobs"),
        Head::text("estimates from"),
        Head::number("rank correlation with the true durations"),
    ];
    let mut grid = Grid::new("What each policy knows", heads);
    for policy in &run.result.policies {
        let assumed = &policy.figures.assumptions;
        let source = assumed.estimates.as_deref().unwrap_or("–");
        grid.row([
            policy.name.clone(),
            known(assumed.durations).to_owned(),
            cut(&printable(source), SHOWN),
            quality(&policy.figures),
        ]);
    }
    grid
}

fn known(durations: Durations) -> &'static str {
    match durations {
        Durations::Unknown => "not known",
        Durations::True => "known exactly, as no real scheduler does",
        Durations::Estimated => "estimated",
        Durations::Own => "a user-defined policy, which can read the true durations",
    }
}

/// Formats the rank correlation of a policy's estimates, with a remark if the estimates are useless.
fn quality(figures: &PolicyFigures) -> String {
    let Some(correlation) = figures.assumptions.estimate_rank_correlation else {
        return "–".to_owned();
    };
    let chance = is_near_chance(correlation, figures.all.jobs as usize);
    let remark = if chance { " (near chance)" } else { "" };
    number(correlation) + remark
}

fn note(run: &Named<'_>) -> String {
    let corrected: Vec<&str> = run
        .result
        .policies
        .iter()
        .filter(|policy| policy.figures.early_starts.is_some_and(|jobs| jobs > 0))
        .map(|policy| policy.name.as_str())
        .collect();
    let mut note = "A rank correlation of 1 means the order of the true durations, and 0 means a random order. \
                    Policies that know durations exactly show the upper bound of the benefit of estimates."
        .to_owned();
    if !run.result.placement_affects_speed {
        note += " The placement does not affect the speed of jobs here, only which jobs fit: placers \
                 are not compared.";
    }
    if !corrected.is_empty() {
        note += &format!(
            " Under {}, jobs start in their virtual cluster before their profiling ends, as in the \
             original (see --corrected).",
            corrected.join(", ")
        );
    }
    note
}
