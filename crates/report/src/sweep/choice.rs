//! Selects the metrics and settings of a sweep that are drawn.

use std::collections::BTreeMap;

use super::trials::{Trials, is_repetition};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::sweep::only_repeats;
use gleaner_runs::read::SweepRuns;

/// The user's choice of metrics and settings. The report chooses a value for each field that is `None`.
#[derive(Debug, Clone, Default)]
pub struct SweepChoice {
    /// The two settings along the axes of the heat map.
    pub heat: Option<[String; 2]>,
    /// The metric by which settings are compared.
    pub metric: Option<String>,
    /// The metric against which [`SweepChoice::metric`] is drawn.
    pub against: Option<String>,
}

impl SweepChoice {
    /// Whether all choices are left to the report.
    pub(crate) fn is_empty(&self) -> bool {
        self.heat.is_none() && self.metric.is_none() && self.against.is_none()
    }
}

/// The metrics and settings to draw, as indices into [`Trials::metrics`] and [`Trials::settings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Index of the metric by which settings are compared.
    pub metric: usize,
    /// Index of the metric against which `metric` is drawn.
    pub against: usize,
    /// The settings along the axes; `Axes::None` if every setting is the same in all trials.
    pub axes: Axes,
}

/// Settings along the axes of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axes {
    None,
    One(usize),
    Two(usize, usize),
}

impl Drawn {
    /// Decides what to draw. Where the user made no choice, the most informative option is used.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the user chose a setting or metric that the sweep does not have.
    pub fn of(sweep: &SweepRuns, trials: &Trials, choice: &SweepChoice) -> Result<Self> {
        let metric = match &choice.metric {
            Some(name) => named(trials, "--metric", name)?,
            None => telling(sweep, trials),
        };
        let against = match &choice.against {
            Some(name) => named(trials, "--against", name)?,
            None => opposed(trials, metric),
        };
        let axes = match &choice.heat {
            Some([x, y]) => {
                let (x, y) = (setting(sweep, trials, x)?, setting(sweep, trials, y)?);
                if x == y {
                    return Err(Error::Usage("--heat needs two different settings".into()));
                }
                Axes::Two(x, y)
            }
            None => weightiest(trials, metric),
        };
        Ok(Drawn {
            metric,
            against,
            axes,
        })
    }
}

fn named(trials: &Trials, flag: &str, name: &str) -> Result<usize> {
    trials.metric(name).ok_or_else(|| {
        let names: Vec<&str> = trials.metrics.iter().map(|metric| metric.name).collect();
        let names = names.join(", ");
        Error::Usage(format!("{flag}: found {name:?}, expected one of {names}"))
    })
}

fn setting(sweep: &SweepRuns, trials: &Trials, name: &str) -> Result<usize> {
    trials.setting(name).ok_or_else(|| {
        let mut all = sweep.mode.settings().iter();
        let found = if !all.any(|field| field.name == name) {
            "which is not a setting"
        } else if only_repeats(name) {
            "which only repeats runs"
        } else {
            "which is the same in all runs"
        };
        let names = trials.settings.join(", ");
        Error::Usage(format!(
            "--heat has {name:?}, {found}; expected two of {names}"
        ))
    })
}

/// The metric by which the sweep chose its best run or, if that metric is the same in all trials, the first tie-breaker
/// that differs between trials.
fn telling(sweep: &SweepRuns, trials: &Trials) -> usize {
    let ties = sweep.mode.ties(&sweep.by);
    let order = std::iter::once(&sweep.by).chain(&ties);
    let mut places = order.filter_map(|metric| trials.metric(metric.name));
    let first = places.clone().next().unwrap_or(0);
    let tells = places.find(|&place| !trials.metrics[place].constant);
    tells.unwrap_or(first)
}

/// A metric that trades off against `metric`: lost work against harvested work, or the longest waits against the
/// average completion time.
fn opposed(trials: &Trials, metric: usize) -> usize {
    const NAMES: [&str; 5] = [
        "work_lost",
        "p999_queue_s",
        "total_work",
        "avg_jct_s",
        "completion_mean_s",
    ];
    let loss = ["rescale_loss", "preemption_loss", "work_lost"];
    let own = trials.metrics[metric].name;
    let fits = |name: &&str| **name != *own && !(loss.contains(name) && loss.contains(&own));
    let mut places = NAMES
        .iter()
        .filter(|name| fits(name))
        .filter_map(|name| trials.metric(name));
    let first = places.clone().next().unwrap_or(metric);
    let tells = places.find(|&place| !trials.metrics[place].constant);
    tells.unwrap_or(first)
}

/// Up to two settings: those with the greatest effect on a metric. The setting with more values is on the horizontal
/// axis. Settings that only repeat runs, such as the tasks, are used only if there are no other settings.
fn weightiest(trials: &Trials, metric: usize) -> Axes {
    let all = 0..trials.settings.len();
    let is_knob = |&setting: &usize| !is_repetition(trials.settings[setting]);
    let mut settings: Vec<usize> = all.clone().filter(is_knob).collect();
    if settings.is_empty() {
        settings = all.collect();
    }
    settings.sort_by(|&a, &b| {
        let weight = |setting| weight(trials, setting, metric);
        weight(b).total_cmp(&weight(a))
    });
    match settings[..] {
        [] => Axes::None,
        [one] => Axes::One(one),
        [a, b, ..] => {
            let (first, second) = (a.min(b), a.max(b));
            let count = |setting| trials.values(setting).len();
            if count(second) > count(first) {
                Axes::Two(second, first)
            } else {
                Axes::Two(first, second)
            }
        }
    }
}

/// The part of a metric's variance that a setting explains: the sum of n · (m − M)² over the setting's values. Here, n
/// is the number of trials with the value, m is their mean, and M is the mean of all trials.
fn weight(trials: &Trials, setting: usize, metric: usize) -> f64 {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for trial in &trials.trials {
        if let Some(mean) = trial.mean(metric) {
            let sum = sums.entry(&trial.settings[setting]).or_default();
            *sum = (sum.0 + 1.0, sum.1 + mean);
        }
    }
    let (count, sum) = sums
        .values()
        .fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    sums.values()
        .map(|(n, of)| n * (of / n - sum / count).powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::trials::tests::{sweep, trials};
    use super::*;

    fn drawn(choice: &SweepChoice) -> Result<(&'static str, &'static str, Axes)> {
        let trials = trials();
        let drawn = Drawn::of(&sweep(), &trials, choice)?;
        let name = |place: usize| trials.metrics[place].name;
        Ok((name(drawn.metric), name(drawn.against), drawn.axes))
    }

    #[test]
    fn work_is_drawn_against_lost_work_by_default() {
        let chosen = drawn(&SweepChoice::default()).unwrap();
        assert_eq!(chosen, ("total_work", "work_lost", Axes::Two(0, 1)));
        let lost = SweepChoice {
            metric: Some("rescale_loss".into()),
            heat: Some(["solver".into(), "t_fwd".into()]),
            ..SweepChoice::default()
        };
        let chosen = drawn(&lost).unwrap();
        assert_eq!(chosen, ("rescale_loss", "total_work", Axes::Two(1, 0)));
    }

    #[test]
    fn settings_and_metrics_that_the_sweep_lacks_are_refused() {
        let choice = |heat: Option<[&str; 2]>, metric: Option<&str>| SweepChoice {
            heat: heat.map(|names| names.map(str::to_owned)),
            metric: metric.map(str::to_owned),
            against: None,
        };
        for (choice, word) in [
            (choice(None, Some("speed")), "completion_mean_s"),
            (
                choice(Some(["t_fwd", "objective"]), None),
                "the same in all runs",
            ),
            (choice(Some(["t_fwd", "x"]), None), "not a setting"),
            (choice(Some(["t_fwd", "t_fwd"]), None), "different"),
        ] {
            let Err(Error::Usage(text)) = drawn(&choice) else {
                panic!("{choice:?} is taken");
            };
            assert!(text.contains(word), "{text}");
        }
    }

    // Derived from the formula: the mean is 5.5 for each solver, and 5 and 6 for the two windows. Each solver and each
    // window has 2 trials.
    #[test]
    fn weights_are_variances_between_values() {
        let trials = trials();
        let work = trials.metric("total_work").unwrap();
        assert_eq!(weight(&trials, 1, work), 0.0);
        assert_eq!(weight(&trials, 0, work), 1.0);
    }
}
