//! A metric for each value of a setting, or for each pair of values of two settings. Bar charts and heat maps show
//! these values.

use std::collections::BTreeMap;

use super::trials::{Metric, Trials, is_repetition, shown};
use gleaner_domain::results::Direction;
use gleaner_domain::results::sweep::{Replication, Spread};
use gleaner_domain::words::counted;
use gleaner_runs::sweep::scale::Scale;

/// The values of the settings along the axes, as strings.
type Key<'a> = Vec<&'a str>;
/// A metric for each combination of values along the axes.
pub(super) type Values<'a> = BTreeMap<Key<'a>, Cell>;

/// The value of a metric in a cell or a bar.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    /// The mean over all repetitions.
    pub mean: f64,
    /// The spread over the repetitions. `None` if the settings are also repeated with other tasks or slices of the log,
    /// because the mean is then not only over seeds or windows.
    pub spread: Option<Spread>,
    /// The kind of repetitions over which the mean is computed.
    pub over: Replication,
}

impl Cell {
    /// The 95 % interval of the mean and the number of repetitions, as text; empty if there is no interval.
    pub fn note(&self, scale: &Scale) -> String {
        let ends = self
            .spread
            .and_then(|spread| Some((spread, spread.ends()?)));
        ends.map_or(String::new(), |(spread, ends)| {
            format!(
                "95 % interval {}, {}",
                scale.range(ends),
                counted(spread.repetitions, self.over.noun())
            )
        })
    }
}

/// The metric for each combination of values of `axes`. The metric is averaged over repetitions, and the best mean over
/// the remaining settings is kept.
pub(super) fn best<'a>(trials: &'a Trials, axes: &[usize], metric: usize) -> Values<'a> {
    let others: Vec<usize> = others(trials, axes, |name| !is_repetition(name)).collect();
    let mut repeated: BTreeMap<(Key<'_>, Key<'_>), Vec<Spread>> = BTreeMap::new();
    for trial in &trials.trials {
        let Some(spread) = trial.figures[metric] else {
            continue;
        };
        let of = |places: &[usize]| places.iter().map(|&s| trial.settings[s].as_str()).collect();
        let spreads = repeated.entry((of(axes), of(&others))).or_default();
        spreads.push(spread);
    }
    let mut best = Values::new();
    for ((key, _), spreads) in repeated {
        let sum: f64 = spreads.iter().map(|spread| spread.mean).sum();
        let found = Cell {
            mean: sum / spreads.len() as f64,
            over: trials.over,
            spread: match spreads[..] {
                [only] => Some(only),
                _ => None,
            },
        };
        let cell = best.entry(key).or_insert(found);
        if trials.metrics[metric].beats(found.mean, cell.mean) {
            *cell = found;
        }
    }
    best
}

/// Indices of the settings that are not in `axes` and whose names `keep` accepts.
fn others(
    trials: &Trials,
    axes: &[usize],
    keep: impl Fn(&str) -> bool,
) -> impl Iterator<Item = usize> {
    let places = (0..trials.settings.len()).filter(|place| !axes.contains(place));
    places.filter(move |&place| keep(trials.settings[place]))
}

/// The text of the figure: what a cell or bar shows, and which cell or bar is best.
pub(super) fn text(trials: &Trials, axes: &[usize], metric: usize, values: &Values<'_>) -> String {
    let names = |repeated: bool| {
        let others = others(trials, axes, |name| is_repetition(name) == repeated);
        let mut names: Vec<String> = others
            .map(|place| trials.settings[place].to_owned())
            .collect();
        if repeated && trials.are_means() {
            names.push(trials.over.nouns());
        }
        names.join(" and ")
    };
    let of = match (names(true).as_str(), names(false).as_str()) {
        ("", "") => String::new(),
        (means, "") => format!("Means over {means}. "),
        ("", best) => format!("Each value is the best over {best}. "),
        (means, best) => {
            format!("Each value is a mean over {means}, and the best such mean over {best}. ")
        }
    };
    let metric = &trials.metrics[metric];
    let which = match metric.better {
        Direction::Max => "Higher",
        Direction::Min => "Lower",
    };
    format!(
        "{of}{which} is better.{}",
        leading(trials, axes, metric, values)
    )
}

/// The sentence about the best value. It states the settings with this value or, if several cells have this value, the
/// number of these cells.
fn leading(trials: &Trials, axes: &[usize], metric: &Metric, values: &Values<'_>) -> String {
    let better = |best, next| if metric.beats(next, best) { next } else { best };
    let Some(best) = values.values().map(|cell| cell.mean).reduce(better) else {
        return String::new();
    };
    let told = metric.scale.tell(best);
    // Cells whose formatted value equals that of the best cell.
    let mut same = values
        .iter()
        .filter(|(_, cell)| metric.scale.tell(cell.mean) == told);
    match (same.next(), same.count()) {
        (Some((cell, _)), 0) => {
            let at = axes.iter().zip(cell);
            let at = at.map(|(&axis, value)| format!("{} {}", trials.settings[axis], shown(value)));
            let at = at.collect::<Vec<_>>().join(" and ");
            format!(" The best is {told}, with {at}.")
        }
        (_, others) => format!(
            " {} of {} values equal the best, {told}.",
            others + 1,
            values.len()
        ),
    }
}

/// Maximum number of values of a setting in a table.
pub(super) const LISTED: usize = 200;

/// A table's title, which states whether values are left out.
pub(super) fn title_of(title: &str, values: usize) -> String {
    match values {
        0..=LISTED => title.to_owned(),
        _ => format!("{title}, the first {LISTED} values"),
    }
}
