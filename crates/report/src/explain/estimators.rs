//! How the estimators of a workload model compare.

use gleaner_learn::lucid::workload::TrialScore;

use crate::numbers::number;
use crate::{Grid, Head};
use gleaner_core::domain::Time;
use gleaner_predict::explanation::EstimatorFacts;
use gleaner_runs::training::{NEAR_CHANCE, RANK_CORRELATION};

/// The lead sentence for an estimator that is not a machine, and so has no terms.
pub(super) fn lead(facts: &EstimatorFacts) -> String {
    format!("The {} has no terms to look at.", facts.name.title())
}

/// How to read the scores, and whether the best estimator is useful; `None` without scores.
pub(super) fn note(facts: &EstimatorFacts) -> Option<String> {
    let chance = if facts.trial.as_ref()?.is_near_chance() {
        format!(" {}", NEAR_CHANCE.replace('\n', " "))
    } else {
        String::new()
    };
    Some(format!("{RANK_CORRELATION}.{}", chance.trim_end()))
}

/// The scores of every estimator on the last weeks of the training span; `None` if those weeks had
/// too few jobs.
pub(super) fn grid(facts: &EstimatorFacts) -> Option<Grid> {
    let trial = facts.trial.as_ref()?;
    let title = format!(
        "Estimators on the {} jobs from {} to {}, which they had not seen; {} is used",
        trial.held_out,
        Time::from(trial.from),
        Time::from(trial.to),
        facts.chosen
    );
    let heads = [
        Head::text("estimator"),
        Head::text("name"),
        Head::number("rank correlation"),
        Head::number("mean absolute error, s"),
    ];
    let mut grid = Grid::new(title, heads);
    for score in &trial.scores {
        grid.row(row(score));
    }
    Some(grid)
}

fn row(score: &TrialScore) -> [String; 4] {
    [
        score.estimator.title().to_owned(),
        score.estimator.name().to_owned(),
        score
            .rank_correlation
            .map_or_else(|| "-".to_owned(), number),
        number(score.mae),
    ]
}
