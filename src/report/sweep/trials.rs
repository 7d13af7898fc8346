//! Runs that differ in their settings, with figures each.

use std::collections::BTreeMap;

use super::scale::Scale;
use crate::ingest::runs::SweepRuns;
use crate::sweep::{Direction, Field, Kind, Mode};

/// Work that replays lost in all, which their summaries have in two parts.
const LOST: Field = Field {
    name: "work_lost",
    pointer: "",
    kind: Kind::Float,
};

/// A table of trials.
#[derive(Debug, Clone)]
pub(super) struct Trials {
    /// Names of the settings that are not the same in all trials.
    pub settings: Vec<&'static str>,
    /// The figures that have a best value.
    pub metrics: Vec<Metric>,
    /// The trials, in the plan's order.
    pub trials: Vec<Trial>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// Its name as a column of the sweep's table.
    pub name: &'static str,
    /// Which values are better.
    pub better: Direction,
    /// How values are told.
    pub scale: Scale,
    /// Whether it is the same in all trials that have it.
    pub constant: bool,
}

/// A trial.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// Its settings as texts, in the order of [`Trials::settings`].
    pub settings: Vec<String>,
    /// Its figures, in the order of [`Trials::metrics`]; `None` where it has none.
    pub metrics: Vec<Option<f64>>,
}

impl Metric {
    fn of(field: Field, better: Direction, values: &[Option<f64>]) -> Self {
        let given = values.iter().flatten().copied();
        let mut sorted: Vec<f64> = given.clone().collect();
        sorted.sort_by(f64::total_cmp);
        let spread = sorted.last().zip(sorted.first());
        // Sums in another order differ in their last digits.
        let constant = spread.is_none_or(|(high, low)| high - low <= 1e-9 * high.abs());
        Metric {
            name: field.name,
            better,
            scale: Scale::of(&field, given),
            constant,
        }
    }

    /// Whether `a` is better than `b`.
    pub fn beats(&self, a: f64, b: f64) -> bool {
        match self.better {
            Direction::Max => a > b,
            Direction::Min => a < b,
        }
    }
}

impl Trials {
    /// The runs of a sweep.
    pub fn of(sweep: &SweepRuns) -> Self {
        let varied: Vec<usize> = (0..sweep.mode.settings().len())
            .filter(|&setting| {
                let mut pairs = sweep.runs.windows(2);
                pairs.any(|pair| pair[0].settings[setting] != pair[1].settings[setting])
            })
            .collect();
        let columns = columns(sweep);
        let trials = sweep.runs.iter().enumerate().map(|(place, run)| Trial {
            settings: varied.iter().map(|&s| run.settings[s].clone()).collect(),
            metrics: columns.iter().map(|column| column.2[place]).collect(),
        });
        let names = varied.iter().map(|&s| sweep.mode.settings()[s].name);
        Trials {
            settings: names.collect(),
            trials: trials.collect(),
            metrics: columns
                .iter()
                .map(|(field, better, values)| Metric::of(*field, *better, values))
                .collect(),
        }
    }

    /// Place of a figure by its name.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    /// Place of a setting by its name.
    pub fn setting(&self, name: &str) -> Option<usize> {
        self.settings.iter().position(|setting| *setting == name)
    }

    /// The different values of a setting, numbers in their order, other texts as they come up.
    pub fn values(&self, setting: usize) -> Vec<&str> {
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, trial) in self.trials.iter().enumerate() {
            first.entry(&trial.settings[setting]).or_insert(place);
        }
        let mut values: Vec<(&str, usize)> = first.into_iter().collect();
        let key = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
        values.sort_by(|a, b| key(a.0).total_cmp(&key(b.0)).then(a.1.cmp(&b.1)));
        values.into_iter().map(|(value, _)| value).collect()
    }

    /// A trial's settings in a line.
    pub fn tell(&self, trial: usize) -> String {
        let settings = self.settings.iter().zip(&self.trials[trial].settings);
        let told = settings.map(|(name, value)| format!("{name} {}", shown(value)));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// Whether a setting says what runs are repeated with, not how they are run.
pub(super) fn is_repetition(setting: &str) -> bool {
    const NAMES: [&str; 8] = [
        "tasks",
        "curves",
        "skip_rows",
        "first_node",
        "nodes_used",
        "from",
        "to",
        "seed",
    ];
    NAMES.contains(&setting)
}

/// A setting's value, or a sign that it is not set.
pub(super) fn shown(value: &str) -> String {
    match value {
        "" => "–".to_owned(),
        value => crate::report::names::short(value),
    }
}

type Column = (Field, Direction, Vec<Option<f64>>);

/// The figures that have a best value, and all that replays lost.
fn columns(sweep: &SweepRuns) -> Vec<Column> {
    let metrics = sweep.mode.metrics().iter().enumerate();
    let ranked = metrics.filter_map(|(place, metric)| {
        let values = sweep.runs.iter().map(|run| run.figures[place]).collect();
        Some((metric.field, metric.best?, values))
    });
    let mut columns: Vec<Column> = ranked.collect();
    if sweep.mode == Mode::Replay {
        let of = |name: &str| columns.iter().find(|column| column.0.name == name);
        if let (Some(rescale), Some(preemption)) = (of("rescale_loss"), of("preemption_loss")) {
            let both = rescale.2.iter().zip(&preemption.2);
            let lost = both.map(|(a, b)| Some((*a)? + (*b)?)).collect();
            columns.push((LOST, Direction::Min, lost));
        }
    }
    columns
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ingest::runs::SweptRun;

    pub fn trials() -> Trials {
        Trials::of(&sweep())
    }

    /// Replays by window, solver and seed, with work and losses.
    pub fn sweep() -> SweepRuns {
        let rows = [
            ("120", "a", "0", 5.0, 3.0),
            ("30", "a", "0", 4.0, 1.0),
            ("30", "b", "0", 6.0, 4.0),
            ("120", "b", "0", 5.0, 2.0),
            ("120", "a", "1", 7.0, 9.0),
        ];
        let run = |(window, solver, seed, work, lost): (&str, &str, &str, f64, f64)| SweptRun {
            settings: in_order(
                Mode::Replay.settings().iter().map(|field| field.name),
                |name| match name {
                    "t_fwd" => window.to_owned(),
                    "solver" => solver.to_owned(),
                    "seed" => seed.to_owned(),
                    _ => String::new(),
                },
            ),
            figures: in_order(
                Mode::Replay.metrics().iter().map(|m| m.field.name),
                |name| match name {
                    "total_work" => Some(work),
                    "rescale_loss" => Some(lost),
                    "preemption_loss" => Some(0.0),
                    _ => None,
                },
            ),
        };
        SweepRuns {
            mode: Mode::Replay,
            by: Mode::Replay.metric("total_work").unwrap(),
            runs: rows.map(run).to_vec(),
            best: Vec::new(),
        }
    }

    fn in_order<T>(names: impl Iterator<Item = &'static str>, of: impl Fn(&str) -> T) -> Vec<T> {
        names.map(of).collect()
    }

    // Small fixed example.
    #[test]
    fn settings_that_vary_are_kept() {
        let trials = trials();
        assert_eq!(trials.settings, ["t_fwd", "solver", "seed"]);
        assert_eq!(trials.values(0), ["30", "120"]);
        assert_eq!(trials.values(1), ["a", "b"]);
        assert_eq!(trials.tell(2), "t_fwd 30, solver b, seed 0");
        let lost = trials.metric("work_lost").unwrap();
        assert_eq!(trials.trials[4].metrics[lost], Some(9.0));
        let constant = |name| trials.metrics[trials.metric(name).unwrap()].constant;
        assert!(constant("preemption_loss") && !constant("total_work"));
    }
}
