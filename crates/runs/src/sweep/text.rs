//! The results of a sweep as text, and its best settings as JSON.

use std::borrow::Borrow;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::table::shown;
use super::{Sweep, SweepRun};
use gleaner_core::error::Result;
use gleaner_core::results::Direction;
use gleaner_core::results::sweep::{Field, Metric, SEED, Spread};
use gleaner_core::words::counted;
use gleaner_io::number::short;

/// The contents of `summary.json`: the numbers of runs and settings, and the best settings by the
/// metric asked for and by every other metric with a best value.
pub fn summary(sweep: &Sweep<'_>) -> Value {
    let all = sweep.mode.metrics().iter();
    let of_all = all.filter_map(|metric| Some((metric.name.into(), entry(sweep, metric)?)));
    json!({
        "runs": sweep.runs.len(),
        "settings": sweep.groups.len(),
        "metric": sweep.by.name,
        "ties_by": ties(sweep),
        "best": entry(sweep, &sweep.by),
        "best_by_metric": Value::Object(of_all.collect::<Map<String, Value>>()),
    })
}

/// The figures that decide between settings that are equally good.
fn ties(sweep: &Sweep<'_>) -> Vec<&'static str> {
    let ties = sweep.mode.ties(&sweep.by);
    ties.iter().map(|metric| metric.name).collect()
}

fn entry(sweep: &Sweep<'_>, metric: &Metric) -> Option<Value> {
    let best = sweep.best(metric)?;
    let runs = &sweep.groups[best.group].runs;
    let mut settings = sweep.first_of(best.group).settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.shift_remove(SEED);
    }
    let keys: Vec<&str> = runs
        .iter()
        .map(|&run| sweep.runs[run].key.as_str())
        .collect();
    Some(json!({
        "value": best.spread.mean,
        "standard_deviation": best.spread.deviation,
        "standard_error": best.spread.standard_error(),
        "low": best.spread.low(),
        "high": best.spread.high(),
        "seeds": runs.len(),
        "direction": metric.best,
        "settings": settings,
        "settings_as_good": best.as_good,
        "settings_within_deviation": best.within_spread,
        "runs": keys,
    }))
}

/// The name of the placer setting in sweeps of simulations.
const PLACER: &str = "placer";

/// Returns a caveat on comparisons of placers; `None` if the sweep does not compare them.
pub fn note_on_placers<'a>(varied: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    varied.into_iter().any(|name| name == PLACER).then_some(
        "The placement does not affect the speed of jobs in these simulations, only which jobs fit. \
         No placer can be called the best.",
    )
}

/// The text at the end of a sweep. `found_done` is the number of runs that were done before.
pub fn text(sweep: &Sweep<'_>, found_done: usize) -> String {
    let name = sweep.by.name;
    let mut out = format!(
        "runs  {}, {found_done} of them done before\n",
        sweep.runs.len()
    );
    let Some(best) = sweep.best(&sweep.by) else {
        let _ = writeln!(out, "best  none: no settings have {name} in all their runs");
        return out;
    };
    let which = match sweep.by.best {
        Some(Direction::Min) => "lowest",
        _ => "highest",
    };
    let others = match best.as_good {
        1 => String::new(),
        settings => format!(
            "; {} have the same value; the best of all these by {}",
            counted(settings - 1, "other setting"),
            ties(sweep).join(", then ")
        ),
    };
    let value = short(best.spread.mean);
    let _ = writeln!(
        out,
        "best  {name} {value}{} (the {which}{others}):",
        over_seeds(&best.spread)
    );
    let varied = varied(sweep.runs.iter().map(Ok), sweep.mode.settings()).unwrap_or_default();
    let varied: Vec<&Field> = varied.into_iter().filter(|f| f.name != SEED).collect();
    let widths = varied.iter().map(|field| field.name.len());
    let width = widths.max().unwrap_or(0);
    let note = note_on_placers(varied.iter().map(|field| field.name));
    for field in varied {
        let value = cell(sweep.first_of(best.group), field);
        let _ = writeln!(out, "  {:width$}  {value}", field.name);
    }
    if let Some(note) = note {
        let _ = writeln!(out, "{note}");
    }
    if best.within_spread > 0 {
        let _ = writeln!(
            out,
            "{} within one standard deviation: more seeds would separate them",
            match best.within_spread {
                1 => "another setting is".to_owned(),
                others => format!("{others} other settings are"),
            }
        );
    }
    out
}

/// The 95 % interval and the standard deviation over the seeds of the best settings; empty for a
/// single seed.
fn over_seeds(spread: &Spread) -> String {
    match (spread.low(), spread.high(), spread.deviation) {
        (Some(low), Some(high), Some(deviation)) => format!(
            ", the mean of {} seeds, 95 % interval {} to {}, standard deviation {}",
            spread.runs,
            short(low),
            short(high),
            short(deviation)
        ),
        _ => String::new(),
    }
}

/// All runs, done or not, in a line each. Runs are made one at a time, as there may be millions.
///
/// # Errors
/// Those of `run`.
pub fn listing(
    count: usize,
    run: &dyn Fn(usize) -> Result<SweepRun>,
    settings: &[Field],
    is_done: &dyn Fn(usize) -> bool,
) -> Result<String> {
    let varied = varied((0..count).map(run), settings)?;
    let mut out = String::new();
    for index in 0..count {
        let state = if is_done(index) { "done" } else { "to do" };
        let run = run(index)?;
        let _ = write!(out, "{}  {state:5}", run.key);
        for field in &varied {
            let _ = write!(out, "  {}={}", field.name, cell(&run, field));
        }
        out.push('\n');
    }
    Ok(out)
}

fn cell(run: &SweepRun, field: &Field) -> String {
    let text = shown(run.settings.pointer(field.pointer));
    if text.is_empty() { "-".into() } else { text }
}

/// The settings that differ between runs.
fn varied<R: Borrow<SweepRun>>(
    mut runs: impl Iterator<Item = Result<R>>,
    settings: &[Field],
) -> Result<Vec<&Field>> {
    let Some(first) = runs.next().transpose()? else {
        return Ok(Vec::new());
    };
    let (first, mut differs) = (&first.borrow().settings, vec![false; settings.len()]);
    for run in runs {
        let run = run?;
        let other = &run.borrow().settings;
        for (Field { pointer, .. }, differs) in settings.iter().zip(&mut differs) {
            *differs = *differs || other.pointer(pointer) != first.pointer(pointer);
        }
    }
    let all = settings.iter().zip(differs);
    Ok(all
        .filter(|(_, differs)| *differs)
        .map(|(field, _)| field)
        .collect())
}
