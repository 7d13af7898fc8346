//! Tables of the best settings, of all settings, and of the settings and metrics that are the same in all runs.

use super::trials::{Trials, shown};
use crate::numbers::count;
use crate::{Grid, Head};
use gleaner_domain::results::Direction;
use gleaner_domain::results::sweep::{Best, SweepRow};
use gleaner_runs::read::SweepRuns;
use gleaner_runs::sweep::scale::Scale;

/// Maximum number of settings in a table.
pub(super) const LISTED: usize = 1_000;

/// A table of the best settings according to each metric that differs between trials.
pub(super) fn best(sweep: &SweepRuns, trials: &Trials) -> Grid {
    let heads = [
        Head::text("figure"),
        Head::text("best is"),
        Head::number("value"),
    ];
    let over = [
        Head::number("95 % interval"),
        Head::number(trials.over.nouns()),
    ];
    let over = over.into_iter().filter(|_| trials.are_means());
    let settings = trials.settings.iter().map(|name| Head::text(*name));
    let last = Head::number("equally good settings");
    let heads = heads.into_iter().chain(over).chain(settings).chain([last]);
    let mut grid = Grid::new("The best settings by each figure", heads);
    for metric in sweep.mode.metrics() {
        let (Some(best), Some(place)) = (sweep.best(metric), trials.metric(metric.name)) else {
            continue;
        };
        let drawn = &trials.metrics[place];
        if drawn.constant {
            continue;
        }
        let which = match drawn.better {
            Direction::Max => "greatest",
            Direction::Min => "least",
        };
        let first = [
            drawn.scale.title.clone(),
            which.to_owned(),
            trials.mean(best.group, place),
        ];
        let over = [interval(&drawn.scale, best), count(best.spread.repetitions)];
        let over = over.into_iter().filter(|_| trials.are_means());
        let settings = trials.trials[best.group].settings.iter();
        let settings = settings.map(|value| shown(value));
        let all = first.into_iter().chain(over).chain(settings);
        grid.row(all.chain([count(best.as_good)]));
    }
    grid
}

/// A table of the metrics, if there is only one combination of settings.
pub(super) fn only(trials: &Trials) -> Grid {
    let heads = [Head::text("figure"), Head::number("value")];
    let mut grid = Grid::new("The figures of the only combination of settings", heads);
    for (place, metric) in trials.metrics.iter().enumerate() {
        grid.row([metric.scale.title.clone(), trials.figure(0, place)]);
    }
    grid
}

/// The 95 % interval of the best settings' mean.
fn interval(scale: &Scale, best: Best) -> String {
    let ends = best.spread.ends();
    ends.map_or("–".to_owned(), |ends| scale.range(ends))
}

/// A table of up to [`LISTED`] settings, ordered by a metric from best to worst.
pub(super) fn all(trials: &Trials, metric: usize) -> Grid {
    let settings = trials.trials.len();
    let title = match settings {
        0..=LISTED => format!("All {} settings, best first", count(settings)),
        _ => format!(
            "The best {} of {} settings; settings.csv lists all of them",
            count(LISTED),
            count(settings)
        ),
    };
    let told: Vec<usize> = (0..trials.metrics.len())
        .filter(|&place| !trials.metrics[place].constant)
        .collect();
    let settings = trials.settings.iter().map(|name| Head::text(*name));
    let metrics = told
        .iter()
        .map(|&place| Head::number(&trials.metrics[place].scale.title));
    let first = std::iter::once(Head::text("rank"));
    let repetitions = trials
        .are_means()
        .then(|| Head::number(trials.over.nouns()));
    let mut grid = Grid::new(
        title,
        first.chain(settings).chain(repetitions).chain(metrics),
    );
    for (rank, trial) in ranked(trials, metric).into_iter().take(LISTED).enumerate() {
        let settings = trials.trials[trial].settings.iter();
        let settings = settings.map(|value| shown(value));
        let repetitions = trials
            .are_means()
            .then(|| count(trials.trials[trial].repetitions));
        let figures = told.iter().map(|&place| trials.figure(trial, place));
        grid.row(
            std::iter::once(count(rank + 1))
                .chain(settings)
                .chain(repetitions)
                .chain(figures),
        );
    }
    grid
}

/// The trials, ordered by a metric from best to worst. Trials without a value are last.
fn ranked(trials: &Trials, metric: usize) -> Vec<usize> {
    let worst = match trials.metrics[metric].better {
        Direction::Max => f64::NEG_INFINITY,
        Direction::Min => f64::INFINITY,
    };
    let value = |trial: usize| trials.trials[trial].mean(metric).unwrap_or(worst);
    let mut order: Vec<usize> = (0..trials.trials.len()).collect();
    order.sort_by(|&a, &b| match trials.metrics[metric].better {
        Direction::Max => value(b).total_cmp(&value(a)),
        Direction::Min => value(a).total_cmp(&value(b)),
    });
    order
}

/// A table of the settings and metrics that are the same in all runs.
pub(super) fn same(sweep: &SweepRuns) -> Grid {
    let heads = [Head::text("setting or figure"), Head::text("value")];
    let mut grid = Grid::new("The same in all runs", heads);
    let Some(first) = sweep.runs.first() else {
        return grid;
    };
    let fields = sweep.mode.settings().iter().zip(&first.settings);
    for (at, (field, value)) in fields.enumerate() {
        let is_same = sweep.runs.iter().all(|run| run.settings[at] == *value);
        if is_same && !value.is_empty() {
            grid.row([field.name.to_owned(), shown(value)]);
        }
    }
    for (metric, value) in sweep.mode.metrics().iter().zip(&first.figures) {
        let place = sweep
            .mode
            .metrics()
            .iter()
            .position(|other| other == metric);
        let same = |run: &SweepRow| place.map(|p| run.figures[p]) == Some(*value);
        if let (Some(value), true) = (value, sweep.runs.iter().all(same)) {
            let scale = Scale::of(metric.name, metric.kind, std::iter::once(*value));
            grid.row([scale.title.clone(), scale.tell(*value)]);
        }
    }
    grid
}
