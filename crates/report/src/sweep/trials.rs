//! The settings that differ in a sweep, with the metrics of their runs.

use std::collections::BTreeMap;

use gleaner_domain::results::Direction;
use gleaner_domain::results::sweep::{Group, Kind, Replication, Spread, only_repeats};
use gleaner_runs::read::SweepRuns;
use gleaner_runs::sweep::scale::Scale;

/// Name of the metric for the total work that a replay lost. Summaries report the work lost to rescaling and to
/// preemption separately.
const LOST: &str = "work_lost";

/// The trials of a sweep. The runs of a trial differ only in their seed and their window.
#[derive(Debug, Clone)]
pub(super) struct Trials {
    /// Names of the settings that differ between trials, except for the seed and the window.
    pub settings: Vec<&'static str>,
    /// The kind of repetitions over which means and intervals are computed.
    pub over: Replication,
    /// Maximum number of repetitions of a trial.
    pub repetitions: usize,
    /// Maximum number of seeds of a trial, or of each of its windows.
    pub seeds: usize,
    /// The metrics for which lower or higher values are better, including the total lost work.
    pub metrics: Vec<Metric>,
    /// The trials, in the order of the plan.
    pub trials: Vec<Trial>,
}

/// A metric for which lower or higher values are better.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metric {
    /// The name of the metric's column in the sweep's table.
    pub name: &'static str,
    /// Whether higher or lower values are better.
    pub better: Direction,
    /// The unit of the metric's values, and the number of decimals shown.
    pub scale: Scale,
    /// Whether the metric is the same in all trials that have it.
    pub constant: bool,
}

/// The settings of a trial, and the means of its runs.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// The trial's settings as strings, in the order of [`Trials::settings`].
    pub settings: Vec<String>,
    /// Number of repetitions over which the trial's means are computed.
    pub repetitions: usize,
    /// The spread of each metric over the repetitions, in the order of [`Trials::metrics`]; `None` if a run has no value.
    pub figures: Vec<Option<Spread>>,
}

impl Trial {
    /// The mean of a metric over the repetitions; `None` if a run has no value.
    pub fn mean(&self, metric: usize) -> Option<f64> {
        Some(self.figures[metric]?.mean)
    }
}

impl Metric {
    fn of((name, kind, better, values): &Column) -> Self {
        let given = values.iter().flatten().map(|spread| spread.mean);
        let mut sorted: Vec<f64> = given.clone().collect();
        sorted.sort_by(f64::total_cmp);
        let spread = sorted.last().zip(sorted.first());
        // Values that should be equal can differ in the last digits, because sums depend on the order of their terms.
        let constant = spread.is_none_or(|(high, low)| high - low <= 1e-9 * high.abs());
        Metric {
            name,
            better: *better,
            scale: Scale::of(name, *kind, given),
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
    /// The trials of a sweep.
    pub fn of(sweep: &SweepRuns) -> Self {
        let fields = sweep.mode.settings();
        let differs = |setting: usize| {
            let mut pairs = sweep.runs.windows(2);
            pairs.any(|pair| pair[0].settings[setting] != pair[1].settings[setting])
        };
        let varied: Vec<usize> = (0..fields.len())
            .filter(|&setting| !only_repeats(fields[setting].name) && differs(setting))
            .collect();
        let columns = columns(sweep);
        let trials = sweep.groups.iter().enumerate().map(|(place, group)| {
            let settings = &sweep.runs[group.runs[0]].settings;
            Trial {
                settings: varied.iter().map(|&s| settings[s].clone()).collect(),
                repetitions: group.repetitions(),
                figures: columns.iter().map(|column| column.3[place]).collect(),
            }
        });
        let groups = sweep.groups.iter();
        let most = |of: fn(&Group) -> usize| groups.clone().map(of).max().unwrap_or(0);
        Trials {
            settings: varied.iter().map(|&s| fields[s].name).collect(),
            over: sweep.over,
            repetitions: most(Group::repetitions),
            seeds: most(Group::seeds),
            trials: trials.collect(),
            metrics: columns.iter().map(Metric::of).collect(),
        }
    }

    /// Whether the figures of trials are means over several repetitions.
    pub fn are_means(&self) -> bool {
        self.repetitions > 1
    }

    /// Index of the metric with this name; `None` if there is no such metric.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    /// Index of the setting with this name; `None` if there is no such setting.
    pub fn setting(&self, name: &str) -> Option<usize> {
        self.settings.iter().position(|setting| *setting == name)
    }

    /// The different values of a setting: numbers in ascending order, then other strings in the order of their first
    /// appearance.
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

    /// A trial's metric as text: the mean, with its 95 % interval if it has one.
    pub fn figure(&self, trial: usize, metric: usize) -> String {
        let scale = &self.metrics[metric].scale;
        match self.trials[trial].figures[metric] {
            None => "–".to_owned(),
            Some(spread) => scale.mean(&spread),
        }
    }

    /// The mean of a trial's metric, as text.
    pub fn mean(&self, trial: usize, metric: usize) -> String {
        let mean = self.trials[trial].mean(metric);
        mean.map_or("–".to_owned(), |mean| {
            self.metrics[metric].scale.tell(mean)
        })
    }

    /// A trial's settings in one line.
    pub fn tell(&self, trial: usize) -> String {
        let settings = self.settings.iter().zip(&self.trials[trial].settings);
        let told = settings.map(|(name, value)| format!("{name} {}", shown(value)));
        told.collect::<Vec<_>>().join(", ")
    }
}

/// Whether a setting selects what is replayed, such as the tasks or the part of the log. Runs that differ only in
/// these settings are repetitions.
pub(super) fn is_repetition(setting: &str) -> bool {
    const NAMES: [&str; 7] = [
        "tasks",
        "curves",
        "skip_rows",
        "first_node",
        "nodes_used",
        "from",
        "to",
    ];
    NAMES.contains(&setting)
}

/// A setting's value, or a dash if it is not set.
pub(super) fn shown(value: &str) -> String {
    match value {
        "" => "–".to_owned(),
        value => crate::names::short(value),
    }
}

type Column = (&'static str, Kind, Direction, Vec<Option<Spread>>);

/// The metrics for which lower or higher values are better, including the total work that replays lost. Each metric
/// comes with its values for all trials.
fn columns(sweep: &SweepRuns) -> Vec<Column> {
    let metrics = sweep.mode.metrics().iter().enumerate();
    let goals = metrics.filter_map(|(place, metric)| {
        let spreads = sweep.groups.iter().map(|group| group.figures[place]);
        Some((metric.name, metric.kind, metric.best?, spreads.collect()))
    });
    let mut columns: Vec<Column> = goals.collect();
    let place = |name: &str| {
        let mut metrics = sweep.mode.metrics().iter();
        metrics.position(|metric| metric.name == name)
    };
    if let (Some(rescale), Some(preemption)) = (place("rescale_loss"), place("preemption_loss")) {
        let lost = |run: usize| {
            let figures = &sweep.runs[run].figures;
            Some(figures[rescale]? + figures[preemption]?)
        };
        let groups = sweep.groups.iter();
        let spreads = groups.map(|group| group.spread_of(lost));
        columns.push((LOST, Kind::Float, Direction::Min, spreads.collect()));
    }
    columns
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gleaner_domain::results::sweep::{Mode, SweepRow, groups};

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
            ("120", "a", "1", 9.0, 9.0),
        ];
        let run = |(window, solver, seed, work, lost): (&str, &str, &str, f64, f64)| SweepRow {
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
                Mode::Replay.metrics().iter().map(|m| m.name),
                |name| match name {
                    "total_work" => Some(work),
                    "rescale_loss" => Some(lost),
                    "preemption_loss" => Some(0.0),
                    _ => None,
                },
            ),
        };
        let runs = rows.map(run).to_vec();
        SweepRuns {
            mode: Mode::Replay,
            by: Mode::Replay.metric("total_work").unwrap(),
            over: Replication::Seeds,
            groups: groups(Mode::Replay, &runs, Replication::Seeds),
            runs,
            complete: true,
        }
    }

    fn in_order<T>(names: impl Iterator<Item = &'static str>, of: impl Fn(&str) -> T) -> Vec<T> {
        names.map(of).collect()
    }

    // Small fixed example: a sweep of two windows and two solvers.
    #[test]
    fn settings_that_vary_are_kept() {
        let trials = trials();
        assert_eq!(
            (trials.settings.as_slice(), trials.seeds),
            (&["t_fwd", "solver"][..], 2)
        );
        assert_eq!(trials.values(0), ["30", "120"]);
        assert_eq!(trials.values(1), ["a", "b"]);
        assert_eq!(trials.tell(2), "t_fwd 30, solver b");
        let lost = trials.metric("work_lost").unwrap();
        assert_eq!(trials.trials[0].mean(lost), Some(6.0));
        // The values are 3 and 9, so the standard error is 3. In published tables, the 97.5th percentile of Student's t
        // with 1 degree of freedom is 12.706.
        assert_eq!(trials.figure(0, lost), "6.00 ± 38.12");
        assert_eq!(
            (trials.mean(0, lost).as_str(), trials.trials[0].repetitions),
            ("6.00", 2)
        );
        assert_eq!(trials.figure(1, lost), "1.00");
        let constant = |name| trials.metrics[trials.metric(name).unwrap()].constant;
        assert!(constant("preemption_loss") && !constant("total_work"));
    }
}
