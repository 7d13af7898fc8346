//! Verifies the best settings of a sweep.

use gleaner_domain::error::Result;
use gleaner_domain::results::Direction;
use gleaner_domain::results::run::RUN_FILE;
use gleaner_domain::results::sweep::{Metric, Mode, Replication, SEED, WINDOW};
use gleaner_runs::read::RunInfo;
use serde_json::{Map, Value, json};

use super::Run;
use super::groups::{Group, Spread};
use crate::Findings;

const FILE: &str = "summary.json";

/// Relative difference up to which a mean counts as equal to the best mean.
const EQUAL: f64 = 1e-9;

/// The runs of a sweep, in groups.
struct Grouped<'a> {
    mode: Mode,
    runs: &'a [Run],
    groups: &'a [Group],
}

/// Verifies `summary.json`. `best` is the name of the metric in the argument `best`, if any.
pub(super) fn summary(
    info: &RunInfo,
    (mode, over): (Mode, Replication),
    runs: &[Run],
    groups: &[Group],
    best: Option<&str>,
    findings: &mut Findings,
) -> Result<()> {
    let grouped = Grouped { mode, runs, groups };
    let written: Value = info.json(FILE)?;
    let by = best.unwrap_or(mode.default_metric());
    let Some(metric) = mode.metric(by) else {
        findings.add(|| format!("{RUN_FILE}: arguments: best is {by:?}, an unknown metric"));
        return Ok(());
    };
    let ties: Vec<&str> = mode.ties(&metric).iter().map(|tie| tie.name).collect();
    let all = mode.metrics().iter();
    let by_metric = all.filter_map(|m| Some((m.name.to_owned(), grouped.entry(m)?)));
    let expected = json!({
        "runs": runs.len(),
        "settings": groups.len(),
        "metric": by,
        "ties_by": ties,
        "intervals": over,
        "best": grouped.entry(&metric),
        "best_by_metric": by_metric.collect::<Map<String, Value>>(),
    });
    compare("", &written, &expected, findings);
    let fields = [
        "runs",
        "settings",
        "metric",
        "ties_by",
        "intervals",
        "best",
        "best_by_metric",
    ];
    findings.covers(FILE, fields);
    Ok(())
}

/// Compares values, with a relative tolerance of 1e-7 for numbers.
fn compare(place: &str, written: &Value, expected: &Value, findings: &mut Findings) {
    match (written, expected) {
        (Value::Object(written), Value::Object(expected)) => {
            let others = expected.keys().filter(|name| !written.contains_key(*name));
            for name in written.keys().chain(others) {
                let below = format!("{place}/{name}");
                match (written.get(name), expected.get(name)) {
                    (Some(written), Some(expected)) => {
                        compare(&below, written, expected, findings);
                    }
                    (None, _) => findings.add(|| format!("{FILE}: {below} is missing")),
                    (_, None) => findings.add(|| format!("{FILE}: unexpected field {below}")),
                }
            }
        }
        (Value::Number(written), Value::Number(expected)) => {
            let number = |value: &serde_json::Number| value.as_f64().unwrap_or(f64::NAN);
            let name = format!("{FILE}: {place}");
            findings.number(name, number(written), number(expected));
        }
        _ => findings.equal(format_args!("{FILE}: {place}"), written, expected),
    }
}

impl Grouped<'_> {
    /// The statistics of a metric over the repetitions of a group.
    fn spread(&self, group: usize, metric: &Metric) -> Option<Spread> {
        self.groups[group].spread(self.runs, metric)
    }

    /// The members of `groups` with the best mean of `metric`.
    fn leaders(&self, groups: &[usize], metric: &Metric) -> Vec<usize> {
        let mean = |group: usize| self.spread(group, metric).map(|spread| spread.mean);
        let means = groups.iter().filter_map(|&group| mean(group));
        let best = match metric.best {
            None => None,
            Some(Direction::Max) => means.reduce(f64::max),
            Some(Direction::Min) => means.reduce(f64::min),
        };
        let leads = |group: &usize| {
            let pair = mean(*group).zip(best);
            pair.is_some_and(|(mean, best)| (mean - best).abs() <= EQUAL * best.abs())
        };
        groups.iter().copied().filter(leads).collect()
    }

    /// The best settings for a metric, in the format of `summary.json`.
    fn entry(&self, metric: &Metric) -> Option<Value> {
        let all: Vec<usize> = (0..self.groups.len()).collect();
        let leaders = self.leaders(&all, metric);
        let mut left = leaders.clone();
        for tie in self.mode.ties(metric) {
            let fewer = self.leaders(&left, &tie);
            if !fewer.is_empty() {
                left = fewer;
            }
        }
        let group = *left.first()?;
        let spread = self.spread(group, metric)?;
        let is_near = |other: &&usize| {
            let mean = self.spread(**other, metric).map(|spread| spread.mean);
            let reach = spread.deviation.unwrap_or(0.0);
            mean.is_some_and(|mean| (mean - spread.mean).abs() < reach)
        };
        let others = all.iter().filter(|group| !leaders.contains(group));
        let members = &self.groups[group];
        let mut settings = self.runs[members.runs[0]].settings.clone();
        if let Some(settings) = settings.as_object_mut() {
            settings.remove(SEED);
            settings.remove(WINDOW);
        }
        let keys: Vec<&str> = (members.runs)
            .iter()
            .map(|&run| self.runs[run].key.as_str())
            .collect();
        Some(json!({
            "value": spread.mean,
            "standard_deviation": spread.deviation,
            "standard_error": spread.error,
            "low": spread.ends.map(|ends| ends[0]),
            "high": spread.ends.map(|ends| ends[1]),
            "seeds": members.seeds(),
            "windows": members.windows(),
            "direction": metric.best,
            "settings": settings,
            "settings_as_good": leaders.len(),
            "settings_within_deviation": others.filter(is_near).count(),
            "runs": keys,
        }))
    }
}
