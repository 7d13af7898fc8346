//! A sweep in words, and its best settings for programs.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::table::shown;
use super::{Sweep, SweepRun};
use crate::sweep::{Direction, Field, Metric};

/// `summary.json`: how many runs there are, the best by the metric asked for, and by
/// every other.
pub fn summary(sweep: &Sweep<'_>) -> Value {
    let all = sweep.mode.metrics().iter();
    let of_all = all.filter_map(|metric| Some((metric.field.name.into(), entry(sweep, metric)?)));
    json!({
        "runs": sweep.runs.len(),
        "metric": sweep.by.field.name,
        "ties_by": ties(sweep),
        "best": entry(sweep, &sweep.by),
        "best_by_metric": Value::Object(of_all.collect::<Map<String, Value>>()),
    })
}

/// The figures that decide between runs which are as good.
fn ties(sweep: &Sweep<'_>) -> Vec<&'static str> {
    let ties = sweep.mode.ties(&sweep.by);
    ties.iter().map(|metric| metric.field.name).collect()
}

fn entry(sweep: &Sweep<'_>, metric: &Metric) -> Option<Value> {
    let best = sweep.best(metric)?;
    let run = &sweep.runs[best.run];
    Some(json!({
        "value": best.value,
        "direction": metric.best,
        "run": run.key,
        "settings": run.settings,
        "runs_as_good": best.as_good,
    }))
}

/// What a person is told at the end.
pub fn text(sweep: &Sweep<'_>, found_done: usize) -> String {
    let name = sweep.by.field.name;
    let mut out = format!(
        "runs  {}, {found_done} of them done before\n",
        sweep.runs.len()
    );
    let Some(best) = sweep.best(&sweep.by) else {
        let _ = writeln!(out, "best  none: no run has {name}");
        return out;
    };
    let which = match sweep.by.best {
        Some(Direction::Min) => "least",
        _ => "greatest",
    };
    let others = match best.as_good {
        1 => String::new(),
        runs => format!(
            ", as of {} other {}, chosen by {}",
            runs - 1,
            if runs == 2 { "run" } else { "runs" },
            ties(sweep).join(", then ")
        ),
    };
    let (value, index) = (best.value, best.run);
    let key = &sweep.runs[index].key;
    let _ = writeln!(
        out,
        "best  {name} {value} (the {which}{others}), run {key}:"
    );
    let varied = varied(sweep.runs, sweep.mode.settings());
    let width = varied
        .iter()
        .map(|field| field.name.len())
        .max()
        .unwrap_or(0);
    for field in varied {
        let value = cell(&sweep.runs[index], field);
        let _ = writeln!(out, "  {:width$}  {value}", field.name);
    }
    out
}

/// The runs to come and those done, a line each.
pub fn listing(runs: &[SweepRun], settings: &[Field], is_done: &[bool]) -> String {
    let varied = varied(runs, settings);
    let mut out = String::new();
    for (run, done) in runs.iter().zip(is_done) {
        let state = if *done { "done" } else { "to do" };
        let _ = write!(out, "{}  {state:5}", run.key);
        for field in &varied {
            let _ = write!(out, "  {}={}", field.name, cell(run, field));
        }
        out.push('\n');
    }
    out
}

fn cell(run: &SweepRun, field: &Field) -> String {
    let text = shown(run.settings.pointer(field.pointer));
    if text.is_empty() { "-".into() } else { text }
}

/// The settings that are not the same in all runs.
fn varied<'a>(runs: &[SweepRun], settings: &'a [Field]) -> Vec<&'a Field> {
    let differs = |field: &&Field| {
        let value = |run: &SweepRun| run.settings.pointer(field.pointer).cloned();
        runs.windows(2)
            .any(|pair| value(&pair[0]) != value(&pair[1]))
    };
    settings.iter().filter(differs).collect()
}
