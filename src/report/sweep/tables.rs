//! The best settings, and all of them.

use super::scale::{Scale, plain};
use super::trials::{Trials, shown};
use crate::ingest::runs::{BestRun, SweepRuns};
use crate::report::numbers::count;
use crate::report::{Grid, Head, Tile};
use crate::sweep::Direction;

/// Most runs that are listed.
const LISTED: usize = 1_000;

/// The best value of a metric, and the settings that reach it.
pub(super) fn tiles(sweep: &SweepRuns, trials: &Trials, metric: &str) -> Vec<Tile> {
    let best = sweep
        .best
        .iter()
        .find(|best| best.metric.field.name == metric);
    let Some(best) = best else {
        return Vec::new();
    };
    let Some(place) = trials.metric(metric) else {
        return Vec::new();
    };
    let scale = &trials.metrics[place].scale;
    let trial = &trials.trials[best.run];
    let value = trial.metrics[place].map_or("–".to_owned(), |value| scale.tell(value));
    let mut tiles = vec![Tile {
        name: format!("Best {}", scale.title),
        value,
        remark: equals(sweep, best),
    }];
    let settings = trials.settings.iter().zip(&trial.settings);
    tiles.extend(settings.map(|(name, value)| Tile {
        name: (*name).to_owned(),
        value: shown(value),
        remark: String::new(),
    }));
    tiles
}

/// How many runs are as good, and what told them apart.
fn equals(sweep: &SweepRuns, best: &BestRun) -> String {
    match best.as_good {
        0 | 1 => "no other run reaches it".to_owned(),
        runs => {
            let ties = sweep.mode.ties(&best.metric);
            let ties = ties.iter().map(|metric| plain(metric.field.name));
            let ties = ties.collect::<Vec<_>>().join(", then ");
            let others = match runs - 1 {
                1 => "1 other run".to_owned(),
                others => format!("{} other runs", count(others)),
            };
            format!("as of {others}; of these the best by {ties}")
        }
    }
}

/// The best run by each figure that differs.
pub(super) fn best(sweep: &SweepRuns, trials: &Trials) -> Grid {
    let heads = [
        Head::text("figure"),
        Head::text("best is"),
        Head::number("value"),
    ];
    let settings = trials.settings.iter().map(|name| Head::text(*name));
    let last = Head::number("runs as good");
    let heads = heads.into_iter().chain(settings).chain([last]);
    let mut grid = Grid::new("The best settings by each figure", heads);
    for best in &sweep.best {
        let Some(place) = trials.metric(best.metric.field.name) else {
            continue;
        };
        let (metric, trial) = (&trials.metrics[place], &trials.trials[best.run]);
        let Some(value) = trial.metrics[place].filter(|_| !metric.constant) else {
            continue;
        };
        let which = match metric.better {
            Direction::Max => "greatest",
            Direction::Min => "least",
        };
        let first = [
            metric.scale.title.clone(),
            which.to_owned(),
            metric.scale.tell(value),
        ];
        let settings = trial.settings.iter().map(|value| shown(value));
        let all = first.into_iter().chain(settings);
        grid.row(all.chain([count(best.as_good)]));
    }
    grid
}

/// All runs, the best by a metric first; as many as a page has room for.
pub(super) fn all(trials: &Trials, metric: usize) -> Grid {
    let runs = trials.trials.len();
    let title = match runs {
        0..=LISTED => format!("All {runs} runs, best first"),
        _ => format!("The best {LISTED} of {runs} runs; sweep.csv has all"),
    };
    let told: Vec<usize> = (0..trials.metrics.len())
        .filter(|&place| !trials.metrics[place].constant)
        .collect();
    let settings = trials.settings.iter().map(|name| Head::text(*name));
    let metrics = told
        .iter()
        .map(|&place| Head::number(&trials.metrics[place].scale.title));
    let first = std::iter::once(Head::text("rank"));
    let mut grid = Grid::new(title, first.chain(settings).chain(metrics));
    for (rank, trial) in ranked(trials, metric).into_iter().take(LISTED).enumerate() {
        let trial = &trials.trials[trial];
        let settings = trial.settings.iter().map(|value| shown(value));
        let figures = told.iter().map(|&place| {
            let scale = &trials.metrics[place].scale;
            trial.metrics[place].map_or("–".to_owned(), |value| scale.tell(value))
        });
        grid.row(
            std::iter::once(count(rank as u64 + 1))
                .chain(settings)
                .chain(figures),
        );
    }
    grid
}

/// The trials from the best by a metric on, those without it last.
fn ranked(trials: &Trials, metric: usize) -> Vec<usize> {
    let worst = match trials.metrics[metric].better {
        Direction::Max => f64::NEG_INFINITY,
        Direction::Min => f64::INFINITY,
    };
    let value = |trial: usize| trials.trials[trial].metrics[metric].unwrap_or(worst);
    let mut order: Vec<usize> = (0..trials.trials.len()).collect();
    order.sort_by(|&a, &b| match trials.metrics[metric].better {
        Direction::Max => value(b).total_cmp(&value(a)),
        Direction::Min => value(a).total_cmp(&value(b)),
    });
    order
}

/// Settings and figures that are the same in all runs.
pub(super) fn same(sweep: &SweepRuns, trials: &Trials) -> Grid {
    let heads = [Head::text("setting or figure"), Head::text("value")];
    let mut grid = Grid::new("The same in all runs", heads);
    let Some(first) = sweep.runs.first() else {
        return grid;
    };
    for (field, value) in sweep.mode.settings().iter().zip(&first.settings) {
        if trials.setting(field.name).is_none() && !value.is_empty() {
            grid.row([field.name.to_owned(), shown(value)]);
        }
    }
    for (metric, value) in sweep.mode.metrics().iter().zip(&first.figures) {
        let place = sweep
            .mode
            .metrics()
            .iter()
            .position(|other| other == metric);
        let same =
            |run: &crate::ingest::runs::SweptRun| place.map(|p| run.figures[p]) == Some(*value);
        if let (Some(value), true) = (value, sweep.runs.iter().all(same)) {
            let scale = Scale::of(&metric.field, std::iter::once(*value));
            grid.row([scale.title.clone(), scale.tell(*value)]);
        }
    }
    grid
}
