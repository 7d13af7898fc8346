//! Sweeps as frames.

use gleaner_domain::results::sweep::{
    Kind, Metric, Mode, Replication, SweepRow, WINDOW, only_repeats,
};
use polars::prelude::{Column, DataFrame};

use crate::aggregate::{aggregate, aggregate_over};
use crate::shape::{join, pivot, rank};
use crate::{Error, Result};

/// The runs of a sweep.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The kind of runs: replays or simulations.
    pub mode: Mode,
    /// The metric by which the user chose to rank the settings.
    pub by: Metric,
    /// The kind of repetitions over which means and intervals are computed.
    pub over: Replication,
    /// A row for each run, in the order of the plan: the settings, then the metrics, as in `sweep.parquet`. A setting
    /// or metric is null if the run does not have it.
    pub runs: DataFrame,
}

impl Sweep {
    /// Creates a sweep from the settings and metrics of its runs.
    ///
    /// # Errors
    /// [`Error::Setting`] if a setting has a value of the wrong type.
    pub fn new(mode: Mode, by: Metric, over: Replication, runs: &[SweepRow]) -> Result<Self> {
        let settings = mode.settings().iter().enumerate();
        let settings = settings.map(|(place, field)| {
            let texts = runs.iter().map(|run| run.settings.get(place));
            let texts: Vec<&str> = texts.map(|text| text.map_or("", |text| text)).collect();
            setting(field.name, field.kind, &texts)
        });
        let mut columns = settings.collect::<Result<Vec<_>>>()?;
        for (place, metric) in mode.metrics().iter().enumerate() {
            let values = runs.iter().map(|run| *run.figures.get(place)?);
            columns.push(figure(metric, values));
        }
        Ok(Sweep {
            mode,
            by,
            over,
            runs: DataFrame::new_infer_height(columns)?,
        })
    }

    /// The metric with this name, such as `total_work`.
    ///
    /// # Errors
    /// [`Error::NoMetric`] if the runs have no such metric.
    pub fn metric(&self, name: &str) -> Result<Metric> {
        self.mode.metric(name).ok_or_else(|| Error::NoMetric {
            name: name.to_owned(),
            known: self.mode.metrics().iter().map(|m| m.name).collect(),
        })
    }

    /// All settings except the seed and the window.
    pub fn settings(&self) -> Vec<&'static str> {
        let names = self.mode.settings().iter().map(|field| field.name);
        names.filter(|name| !only_repeats(name)).collect()
    }

    /// The settings other than the seed and the window that have more than one value.
    ///
    /// # Errors
    /// [`Error::Polars`] if `runs` lacks the column of a setting.
    pub fn varied(&self) -> Result<Vec<&'static str>> {
        let mut varied = Vec::new();
        for name in self.settings() {
            if self.runs.column(name)?.n_unique()? > 1 {
                varied.push(name);
            }
        }
        Ok(varied)
    }

    /// Aggregates a metric over seeds or, if the log was cut, over windows or blocks. The result has a row for each
    /// combination of the other settings, with the mean, its standard error, and its 95 % interval. See [`aggregate`]
    /// for the columns. The column `runs` counts the seeds, windows or blocks. Seeds of the same window are averaged
    /// first ([`Replication`]).
    ///
    /// # Errors
    /// [`Error::NoMetric`] if the runs have no such metric.
    pub fn aggregate(&self, metric: &str) -> Result<DataFrame> {
        self.aggregate_by(metric, &self.settings())
    }

    /// Like [`Sweep::aggregate`], but groups only by the settings `by`. Runs that differ only in other settings count
    /// as repetitions, just like runs that differ in their seed. If the log was cut, they are averaged within each
    /// window first.
    ///
    /// # Errors
    /// Same as [`Sweep::aggregate`]; also [`Error::Polars`] if `by` is empty or names a column that `runs` lacks.
    pub fn aggregate_by(&self, metric: &str, by: &[&str]) -> Result<DataFrame> {
        let name = self.metric(metric)?.name;
        if !self.over.cuts_log() || by.contains(&WINDOW) {
            return aggregate(&self.runs, name, by);
        }
        let windows = aggregate(&self.runs, name, &[by, &[WINDOW]].concat())?;
        aggregate_over(&windows, "mean", by, self.over)
    }

    /// Like [`Sweep::aggregate`], but with an additional column `rank`, and sorted by the mean, best first. See
    /// [`rank`](crate::rank).
    ///
    /// # Errors
    /// Same as [`Sweep::aggregate`]; also [`Error::NoGoal`] if the metric has no best value.
    pub fn rank(&self, metric: &str) -> Result<DataFrame> {
        let goals = self.mode.metrics().iter().filter(|m| m.best.is_some());
        let best = self.metric(metric)?.best.ok_or_else(|| Error::NoGoal {
            name: metric.to_owned(),
            goals: goals.map(|goal| goal.name).collect(),
        })?;
        rank(&self.aggregate(metric)?, "mean", best)
    }

    /// Joins each run with the run of the other sweep that has the same settings, including the seed. Metrics of the
    /// other sweep have the suffix `_right`. See [`join`](crate::join).
    ///
    /// # Errors
    /// [`Error::Repeated`] if the other sweep has several runs with the same settings.
    /// [`Error::Polars`] if one sweep is of replays and the other of simulations.
    pub fn join(&self, other: &Sweep) -> Result<DataFrame> {
        let settings = self.mode.settings().iter().map(|field| field.name);
        join(&self.runs, &other.runs, &settings.collect::<Vec<_>>())
    }

    /// Means of a metric by two settings. The frame has a row for each value of the setting `rows` and a column for
    /// each value of the setting `columns`. Each mean is over all runs with both values, regardless of their seeds and
    /// other settings. See [`pivot`](crate::pivot).
    ///
    /// # Errors
    /// Same as [`Sweep::aggregate_by`].
    pub fn pivot(&self, metric: &str, rows: &str, columns: &str) -> Result<DataFrame> {
        let means = self.aggregate_by(metric, &[rows, columns])?;
        pivot(&means, rows, columns, "mean")
    }
}

/// The column of a setting.
fn setting(name: &'static str, kind: Kind, texts: &[&str]) -> Result<Column> {
    let named = name.into();
    Ok(match kind {
        Kind::Text => {
            let texts = texts.iter().map(|&text| (!text.is_empty()).then_some(text));
            Column::new(named, texts.collect::<Vec<_>>())
        }
        Kind::Whole => Column::new(named, parsed::<i64>(name, texts, "a whole number")?),
        Kind::Float => Column::new(named, parsed::<f64>(name, texts, "a number")?),
    })
}

/// The parsed values of a setting; `None` for an empty text.
fn parsed<T: std::str::FromStr>(
    setting: &'static str,
    texts: &[&str],
    expected: &'static str,
) -> Result<Vec<Option<T>>> {
    let value = |(run, &text): (usize, &&str)| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| Error::Setting {
            setting,
            run,
            found: text.to_owned(),
            expected,
        }),
    };
    texts.iter().enumerate().map(value).collect()
}

/// The column of a metric.
fn figure(metric: &Metric, values: impl Iterator<Item = Option<f64>>) -> Column {
    let named = metric.name.into();
    match metric.kind {
        Kind::Whole => {
            let values = values.map(|value| Some(value? as i64));
            Column::new(named, values.collect::<Vec<_>>())
        }
        Kind::Float | Kind::Text => Column::new(named, values.collect::<Vec<_>>()),
    }
}
